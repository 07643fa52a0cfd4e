// `docmount keys`: manages the API keys of the user's own service, whether it runs or not.

import { Option, type Command } from 'commander'
import { type OwnServiceOptions, addOwnServiceOptions, withAdminOf } from '../own-service.ts'
import { parseLifetimeMs } from '../durations.ts'
import { printable } from '../../printable.ts'
import { print } from '../output.ts'

interface KeysOptions extends OwnServiceOptions {
  readonly json?: boolean
}

interface CreateOptions extends KeysOptions {
  readonly name?: string
  /** Milliseconds from now. */
  readonly expires?: number
  readonly readOnly?: boolean
  readonly path?: string
}

const help = `
A running service applies the change with its next request, its other nodes within a second.
A key is shown only once, because the service keeps only its hash.

Examples:
  $ docmount keys create acme --data ~/documents
  $ docmount keys create acme other --name scanner --expires 90d --path /inbox --data ~/documents
  $ docmount keys create acme --name auditor --read-only --data ~/documents
  $ docmount keys list --data ~/documents
  $ docmount keys list --database postgres://docmount@db.example/docmount
  $ docmount keys rotate 1f0c2ab94d7e --overlap 2d --data ~/documents
  $ docmount keys revoke acme 1f0c2ab94d7e --data ~/documents
  $ docmount keys revoke acme --data ~/documents          all keys of the project`

export function register(program: Command): void {
  const keys = program
    .command('keys')
    .summary("make, list, rotate and revoke a service's API keys")
    .description('Makes, lists, rotates and revokes the API keys of the service whose data folder this is.')
    .addHelpText('after', help)

  subcommand(keys, 'create', 'make a key and print it')
    .description('Makes a key and prints it.')
    .argument('<projects...>', 'names of the projects it opens')
    .option('--name <name>', 'what it is called in lists')
    .option(
      '--expires <duration>',
      'how long it is valid, for instance 90d (default: no end)',
      parseLifetimeMs,
    )
    .option('--read-only', 'it may read, and change nothing')
    .option('--path <path>', 'it opens this folder or document only, and no tables')
    .action((projects: string[], options: CreateOptions) =>
      withAdminOf(options, async (admin, now) => {
        const { id, key } = await admin.createKey({
          projects,
          name: options.name,
          expiresAt: options.expires === undefined ? undefined : now() + options.expires,
          isReadOnly: options.readOnly,
          path: options.path,
        })
        print(options, { id, name: projects[0], projects, api_key: key }, key)
      }),
    )

  subcommand(keys, 'list', 'list keys, without the keys themselves')
    .description('Lists keys, without the keys themselves.')
    .alias('ls')
    .argument('[project]', 'name of a project (default: all)')
    .action((project: string | undefined, options: KeysOptions) =>
      withAdminOf(options, async (admin) => {
        const found = (await admin.listKeys(project)).map((key) => ({
          id: key.id,
          name: key.name,
          projects: key.projects,
          access: key.access,
          path: key.path,
          created_at: timeOf(key.created_at),
          expires_at: timeOf(key.expires_at),
          last_used_at: timeOf(key.last_used_at),
        }))
        const lines = found.map((key) =>
          [
            key.id,
            ...(key.name === null ? [] : [key.name]),
            key.projects.join(', '),
            ...(key.access === 'read' ? ['read-only'] : []),
            ...(key.path === '/' ? [] : [printable(key.path)]),
            `made ${key.created_at}`,
            ...(key.expires_at === null ? [] : [`expires ${key.expires_at}`]),
            key.last_used_at === null ? 'never used' : `used ${key.last_used_at}`,
          ].join('  '),
        )
        print(options, found, lines.length === 0 ? 'there are no keys' : lines.join('\n'))
      }),
    )

  subcommand(keys, 'rotate', 'replace a key; the old one ends later')
    .description('Makes a key that opens the same and prints it. The old one ends later.')
    .argument('<id>', 'id of the key')
    .addOption(
      new Option('--overlap <duration>', 'how long the old key stays valid')
        .argParser(parseLifetimeMs)
        .default(86_400_000, '1d'),
    )
    .action((old: string, options: KeysOptions & { overlap: number }) =>
      withAdminOf(options, async (admin) => {
        const { id, key } = await admin.rotateKey(old, options.overlap)
        print(options, { id, api_key: key }, key)
      }),
    )

  subcommand(keys, 'revoke', 'revoke keys')
    .description('Revokes keys of a project.')
    .argument('<project>', 'name of the project')
    .argument('[ids...]', 'ids of keys (default: all of the project)')
    .action((project: string, ids: string[], options: KeysOptions) =>
      withAdminOf(options, async (admin) => {
        const revoked = await admin.revokeKeys(project, ids)
        print(options, { revoked }, `${revoked.length} revoked`)
        const missing = ids.filter((id) => !revoked.includes(id))
        if (missing.length > 0) {
          console.error(
            `docmount: ${project} has no key ${missing.join(', ')}; docmount keys list ${project} shows them`,
          )
          process.exitCode = 1
        }
      }),
    )
}

function timeOf<Time extends number | null>(time: Time): Time extends null ? null | string : string {
  return (time === null ? null : new Date(time).toISOString()) as never
}

function subcommand(keys: Command, name: string, summary: string): Command {
  return addOwnServiceOptions(keys.command(name).summary(summary)).option('--json', 'print JSON')
}
