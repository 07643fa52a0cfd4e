// Arguments, options and help of `docmount serve`. Its work is in run-serve.ts, which is loaded only when the command runs.

import { type Command, InvalidArgumentError, type Option } from 'commander'
import { type Limits, defaultLimits } from '../../service/limits.ts'
import { parseAddress } from '../address.ts'
import { parseDurationMs, parseLifetimeMs, parseSizeBytes } from '../durations.ts'
import { addDatabaseOptions } from '../database-options.ts'
import { addLimit, describeLimits, mergeLimits } from '../limits-option.ts'
import {
  refuseUnknownVariables,
  checkSwitchVariables,
  listFromEnvironment,
  optionFromEnvironment,
} from '../option-environment.ts'
import type { ServeOptions } from '../run-serve.ts'
import { UsageError } from '../usage-error.ts'

const help = `
Missing projects are made, each with an API key that is shown only once; docmount keys makes more.
Everything is kept in the data folder: a database, the documents' content, the secret of download links.
With --database, any number of services with the same database and the same data folder or bucket are one
service; the folder or bucket keeps the larger contents. A bucket's key is in AWS_ACCESS_KEY_ID and
AWS_SECRET_ACCESS_KEY, in the file that AWS_SHARED_CREDENTIALS_FILE names, or comes from the role of the
pod or machine.
Every option can be given as an environment variable: --public-url as DOCMOUNT_SERVE_PUBLIC_URL, with
commas between the values of options that may be repeated. How to host it: docs/service.md.

Limits and their defaults (document, project and project-documents also of one project: project@acme=10GB):
  ${wrap(describeLimits(defaultLimits), '  ')}

Examples:
  $ docmount serve --data ~/documents --project acme
  $ docmount serve --data ~/documents --listen 0.0.0.0:8080     for other machines too
  $ docmount serve --data ~/documents --public-url https://documents.example --trust-proxy 127.0.0.1
  $ docmount serve --data ~/documents --listen 0.0.0.0:443 --cert fullchain.pem --key privkey.pem
  $ docmount serve --data /mnt/shared --database postgres://docmount@db.example/docmount     one of several nodes
  $ docmount serve --data ~/documents --limit document=2GB --limit requests-per-second-per-key=100
  $ docmount serve --data ~/documents --check-database     before an upgrade; changes nothing
  $ docmount serve --data /tmp/d --listen 127.0.0.1:0 --project acme --json
    {"base_url":"http://127.0.0.1:40211/api","projects":[{"name":"acme","api_key":"…"}]}`

export function register(program: Command): void {
  const option = (flags: string, description: string, parse?: (text: string) => unknown): Option =>
    optionFromEnvironment('DOCMOUNT_SERVE_', flags, description, parse)
  const serve = program
    .command('serve')
    .summary('run a document service of your own')
    .description('Runs a document service over a folder of this machine until Ctrl-C or SIGTERM.')
    .addOption(option('--data <dir>', 'folder for everything the service keeps'))
  addDatabaseOptions(serve, option)
    .addOption(
      option('--blobs <url>', 's3://BUCKET?endpoint=URL for larger contents, instead of the data folder'),
    )
    .addOption(option('--s3-direct', 'send downloads to the bucket itself, with URLs valid for a minute'))
    .addOption(
      option(
        '--listen <host:port>',
        'where to listen; port 0 = any free port (default: 127.0.0.1:8080)',
        parseAddress,
      ),
    )
    .addOption(
      option('--public-url <url>', 'what download links begin with (default: the address connected to)'),
    )
    .addOption(
      option('--cert <file>', 'certificate (PEM): use TLS; read again when it changes, and on SIGHUP'),
    )
    .addOption(option('--key <file>', 'the key of the certificate (PEM)'))
    .addOption(
      option(
        '--drain <duration>',
        'how long requests under way may take when the service stops (default: 30s)',
        parseDurationMs,
      ),
    )
    .addOption(
      option('--backup-to <place>', 'make backups in this folder, or below s3://BUCKET/PREFIX?endpoint=URL'),
    )
    .addOption(option('--backup-every <duration>', 'how often (default: 1d)', parsePeriodMs))
    .addOption(option('--backup-keep <count>', 'how many to keep (default: 30)', parseCount))
    .addOption(
      option('--metrics-listen <host:port>', 'answer GET /metrics there, for Prometheus', parseAddress),
    )
    .addOption(
      option('--log <file>', 'log into this file; - = standard output, off (default: standard error)'),
    )
    .addOption(
      option('--access-log <file>', 'a line per request into this file, -, or off (default: into the log)'),
    )
    .addOption(
      option('--audit-log <file>', 'a line per change into this file, -, or off (default: into the log)'),
    )
    .addOption(option('--log-size <size>', 'begin a new log file beyond this (default: 10MiB)', parseLogSize))
    .addOption(option('--log-keep <files>', 'how many full log files to keep (default: 10)', parseLogKeep))
    .addOption(option('--json', 'print one line of JSON once listening'))
    .addOption(
      option('--check-database', 'only say if this version can use the database, and what it would change'),
    )
    .addOption(option('--allow-private-uris', 'let uploads by uri fetch from private addresses'))
    .addOption(option('-v, --verbose', 'log more'))
    .option('--project <name>', 'make this project if it is missing; may be repeated', collect)
    .option('--trust-proxy <network>', 'believe X-Forwarded-* from there; may be repeated', collect)
    .option('--limit <name=value>', 'see below; none = no such limit; may be repeated', addLimit)
    // Without commander's `(env: …)`: the help explains the variables' names once.
    .configureHelp({ optionDescription: (option) => option.description })
    .addHelpText('after', help)
    .action(async (options: Partial<ServeOptions>) => {
      checkSwitchVariables(serve)
      refuseUnknownVariables('DOCMOUNT_SERVE_', serve)
      const fromEnvironment = (name: string): string[] => listFromEnvironment(`DOCMOUNT_SERVE_${name}`)
      const limits = limitsOf(fromEnvironment('LIMIT'))
      const { runServe } = await import('../run-serve.ts')
      await runServe({
        listen: { host: '127.0.0.1', port: 8080 },
        project: fromEnvironment('PROJECT'),
        trustProxy: fromEnvironment('TRUST_PROXY'),
        drain: 30_000,
        backupEvery: 86_400_000,
        backupKeep: 30,
        logSize: 10 * 2 ** 20,
        logKeep: 10,
        ...options,
        limit: mergeLimits(limits, options.limit),
      })
    })
}

/** Parses DOCMOUNT_SERVE_LIMIT. Throws a UsageError that names the variable; commander's would name the option. */
function limitsOf(texts: readonly string[]): Partial<Limits> {
  try {
    return texts.reduce<Partial<Limits>>((before, text) => addLimit(text, before), {})
  } catch (error) {
    if (!(error instanceof InvalidArgumentError)) throw error
    throw new UsageError(`DOCMOUNT_SERVE_LIMIT: ${error.message}`)
  }
}

/** A smaller file would be rotated every few lines, and the oldest lines deleted soon. */
function parseLogSize(text: string): number {
  const bytes = parseSizeBytes(text)
  if (bytes < 1024) throw new InvalidArgumentError('Write a size from 1KiB, like 10MiB.')
  return bytes
}

/** At most 1000, because each rotation renames all files, while requests wait. */
function parseLogKeep(text: string): number {
  const files = Number(/^\d+$/.test(text) ? text : 0)
  if (files < 1 || files > 1000) throw new InvalidArgumentError('Write a whole number from 1 to 1000.')
  return files
}

function parsePeriodMs(text: string): number {
  const ms = parseLifetimeMs(text)
  if (ms < 1000) throw new InvalidArgumentError('Write a duration from 1s, like 1d or 6h.')
  return ms
}

function parseCount(text: string): number {
  const count = Number(/^\d+$/.test(text) ? text : 0)
  if (count < 1) throw new InvalidArgumentError('Write a whole number from 1.')
  return count
}

function collect(name: string, names: readonly string[] = []): string[] {
  return [...names, name]
}

/** Breaks lines of 60 to 90 characters at the two spaces that `describeLimits` puts between limits. */
function wrap(text: string, indent: string): string {
  return text.replaceAll(/(.{60,90}?) {2}/g, `$1\n${indent}`)
}
