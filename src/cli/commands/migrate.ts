// `docmount migrate`: moves a service's data folder to the database and storage that nodes share.

import type { Command } from 'commander'
import { checkDataDir } from '../own-service.ts'
import { reportDamaged } from '../damaged-contents.ts'
import { addDatabaseOptions, databaseOf, type DatabaseOptions } from '../database-options.ts'
import { print } from '../output.ts'
import { UsageError } from '../usage-error.ts'

const help = `
Run it while the service runs: it copies the contents, reads each back and compares its digest. Then end
the service and run the same command again: it copies what came since, and all rows in one transaction,
which takes up to a minute for each 100,000 documents. Nothing is served until that is done, and the old
folder is never served again. If the command is killed at any point, run it again, and it continues.
A document whose content is damaged is named, and moves as it is; all else moves, and the exit code is 1.
Projects, keys, links, tables and times stay as they are. Remove the old folder when you like.

Examples:
  $ export PGPASSFILE=/etc/docmount/pgpass
  $ docmount migrate --data ~/documents --database postgres://docmount@db.example/docmount --to /mnt/documents
  $ docmount migrate --data ~/documents --database postgres://docmount@db.example/docmount \\
      --blobs 's3://documents?endpoint=https://s3.example'`

interface MigrateOptions extends DatabaseOptions {
  readonly data: string
  readonly to?: string
  readonly blobs?: string
  readonly json?: boolean
}

export function register(program: Command): void {
  const command = program
    .command('migrate')
    .summary("move a service's data to a database that nodes share")
    .description(
      'Moves a data folder to PostgreSQL, and its contents to a bucket or a folder that nodes share.',
    )
    .requiredOption('--data <dir>', "the service's data folder")
  addDatabaseOptions(command)
    .option('--blobs <url>', 's3://BUCKET?endpoint=URL for larger contents')
    .option('--to <dir>', 'or a folder that all nodes share')
    .option('--json', 'print JSON: what was moved')
    .addHelpText('after', help)
    .action(migrate)
}

async function migrate(options: MigrateOptions): Promise<void> {
  const { data, to, blobs } = options
  const database = databaseOf(options)
  if (database === undefined) throw new UsageError('--database is missing: where to?')
  if ((to === undefined) === (blobs === undefined))
    throw new UsageError('one of --blobs and --to is needed: where do larger contents go?')
  checkDataDir(data)
  const { moveStore } = await import('../../service/move/move-store.ts')
  const moved = await moveStore(data, {
    database,
    dataDir: to,
    blobs: blobs === undefined ? undefined : { url: blobs },
  })
  print(
    options,
    moved,
    moved.state === 'copied'
      ? `${moved.contents} contents copied. The service still runs: end it, and run this again for the last step.`
      : `${moved.documents} documents of ${moved.projects} projects have moved; the last step took ${(moved.lastStepMs / 1000).toFixed(1)} s.`,
  )
  reportDamaged(moved)
}
