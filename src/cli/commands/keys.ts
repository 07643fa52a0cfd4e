// `docmount keys`: the API keys of the service in a data folder. Works on the database, whether the service runs or not.

import { existsSync } from 'node:fs'
import { join } from 'node:path'
import type { Command } from 'commander'
import type { Store } from '../../service/store/database.ts'

interface KeysOptions {
  readonly data: string
  readonly json?: boolean
}

const help = `
A running service sees the change with its next request.

Examples:
  $ docmount keys create acme --data ~/documents          prints a new key, this once
  $ docmount keys list acme --data ~/documents            ids and dates; the keys themselves are not kept
  $ docmount keys revoke acme 1f0c2ab94d7e --data ~/documents
  $ docmount keys revoke acme --data ~/documents          all keys of the project`

export function register(program: Command): void {
  const keys = program
    .command('keys')
    .summary("make, list and revoke a service's API keys")
    .description('Makes, lists and revokes the API keys of the service whose data folder this is.')
    .addHelpText('after', help)

  subcommand(keys, 'create', 'make a key and print it').action((project: string, options: KeysOptions) =>
    withProject(options.data, project, async (store, projectId) => {
      const { createKey } = await import('../../service/store/projects.ts')
      const key = await createKey(store, projectId, Date.now())
      print(options, { name: project, api_key: key }, key)
    }),
  )

  subcommand(keys, 'list', 'list the ids of keys').action((project: string, options: KeysOptions) =>
    withProject(options.data, project, async (store, projectId) => {
      const { listKeys } = await import('../../service/store/projects.ts')
      const found = (await listKeys(store, projectId)).map((key) => ({
        id: key.id,
        created_at: new Date(key.created_at).toISOString(),
      }))
      const lines = found.map((key) => `${key.id}  made ${key.created_at}`)
      print(options, found, lines.length === 0 ? `${project} has no keys` : lines.join('\n'))
    }),
  )

  subcommand(keys, 'revoke', 'revoke keys')
    .argument('[ids...]', 'ids of keys (default: all of the project)')
    .action((project: string, ids: string[], options: KeysOptions) =>
      withProject(options.data, project, async (store, projectId) => {
        const { revokeKeys } = await import('../../service/store/projects.ts')
        const revoked = await revokeKeys(store, projectId, ids.length === 0 ? undefined : ids)
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

function subcommand(keys: Command, name: string, summary: string): Command {
  return keys
    .command(name)
    .description(summary)
    .argument('<project>', 'name of the project')
    .requiredOption('--data <dir>', "the service's data folder")
    .option('--json', 'print JSON')
}

async function withProject(
  dataDir: string,
  name: string,
  work: (store: Store, projectId: string) => Promise<void>,
): Promise<void> {
  const [{ openStore }, { findProject }, { UsageError }] = await Promise.all([
    import('../../service/store/open-store.ts'),
    import('../../service/store/projects.ts'),
    import('../usage-error.ts'),
  ])
  if (!existsSync(join(dataDir, 'service.db'))) {
    throw new UsageError(
      `${dataDir} is no data folder of a service; docmount serve --data ${dataDir} makes one`,
    )
  }
  const { store } = await openStore(dataDir)
  try {
    const project = await findProject(store, name)
    if (project === undefined) {
      throw new UsageError(
        `there is no project ${name}; docmount serve --data ${dataDir} --project ${name} makes it`,
      )
    }
    await work(store, project.id)
  } finally {
    await store.destroy()
  }
}

function print(options: KeysOptions, value: unknown, text: string): void {
  console.log(options.json === true ? JSON.stringify(value) : text)
}
