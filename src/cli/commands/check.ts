// `docmount check`: looks for damage in the data of a service.

import type { Command } from 'commander'
import { type OwnServiceOptions, addOwnServiceOptions, checkDataDir } from '../own-service.ts'
import { databaseOf } from '../database-options.ts'
import { exitCodes } from '../exit-codes.ts'
import { print } from '../output.ts'
import { printable } from '../../printable.ts'
import type { Checked } from '../../service/check/check-folder.ts'
import { UsageError } from '../usage-error.ts'

const help = `
Reads every content and compares it with its SHA-256, and looks through the database. Names each document
whose content is damaged, and changes nothing; the service may run meanwhile. Exit code 1: something was
found. Who stores the same bytes again, in any project, repairs a content.

Examples:
  $ docmount check --data ~/documents
  $ docmount check --database postgres://docmount@db.example/docmount --data /mnt/documents
  $ docmount check --database postgres://docmount@db.example/docmount --blobs 's3://documents?endpoint=…'`

interface CheckOptions extends OwnServiceOptions {
  readonly blobs?: string
  readonly json?: boolean
}

export function register(program: Command): void {
  addOwnServiceOptions(program.command('check'))
    .summary('look for damage in what a service keeps')
    .description('Reads everything that a service keeps, and names the documents that are damaged.')
    .option('--blobs <url>', 's3://BUCKET?endpoint=URL, where larger contents are')
    .option('--json', 'print JSON: {documents, contents, findings}')
    .addHelpText('after', help)
    .action(check)
}

async function check(options: CheckOptions): Promise<void> {
  const { documents, contents, findings } = await runCheck(options)
  const sum = findings.length === 0 ? 'all is well' : `${findings.length} found`
  const lines = [...findings.map(printable), `${documents} documents, ${contents} contents: ${sum}`]
  print(options, { documents, contents, findings }, lines.join('\n'))
  if (findings.length > 0) process.exitCode = exitCodes.failure
}

async function runCheck(options: CheckOptions): Promise<Checked> {
  const { data, blobs } = options
  const database = databaseOf(options)
  if (database === undefined) {
    if (data === undefined) throw new UsageError('--data (or --database) is missing: which service is it?')
    if (blobs !== undefined) throw new UsageError('--blobs needs --database')
    checkDataDir(data)
    const { checkFolder } = await import('../../service/check/check-folder.ts')
    return checkFolder(data)
  }
  if ((data === undefined) === (blobs === undefined))
    throw new UsageError('one of --data and --blobs is needed: where are larger contents?')
  const { checkStore } = await import('../../service/store/postgres/check.ts')
  return checkStore({ database, dataDir: data, blobs: blobs === undefined ? undefined : { url: blobs } })
}
