// Opens the store over libsql: one file, WAL, an fsync per commit. Another process may write too: whoever finds the file
// taken waits.

import { join } from 'node:path'
import { Kysely } from 'kysely'
import type { ChangeArgument, ChangeName, ChangeResult } from './changes.ts'
import { Connection } from './connection.ts'
import type { Database, Store } from './database.ts'
import { dialectOf } from './dialect.ts'
import { kyselyOver } from './dialect-local.ts'
import { migrate } from './migrate.ts'
import { migrations } from './migrations.ts'
import { readerPragmas } from './pragmas.ts'
import { Writer } from './writer.ts'

const databaseName = 'service.db'

/** Changes of nodes and contents, many to a commit. */
export interface Commits {
  /** Resolves with what the change answers when it is durable; rejects with what it throws, and nothing has happened then. */
  run<Name extends ChangeName>(name: Name, argument: ChangeArgument<Name>): Promise<ChangeResult<Name>>
  /** Grows when anything else was changed through the store: keys, projects, tables. */
  readonly otherChanges: number
}

export interface OpenedStore {
  /** Close it with `destroy`. */
  readonly store: Store
  readonly commits: Commits
}

/** For another thread that only reads. The store in `dataDir` is open already. */
export function openReader(dataDir: string): Store {
  return kyselyOver(new Connection(join(dataDir, databaseName), { pragmas: readerPragmas }))
}

/** Opens the store in `dataDir`, made where missing, and brings its tables up to date. */
export async function openStore(dataDir: string): Promise<OpenedStore> {
  const file = join(dataDir, databaseName)
  const writer = new Writer(file, join(dataDir, 'service.reserve'))
  // The file's first connection is the writer's: it chooses the journal mode.
  await writer.statement('pragma journal_mode', [])
  const reader = new Connection(file, { pragmas: readerPragmas })
  const store = new Kysely<Database>({ dialect: dialectOf(reader, writer) })
  try {
    await migrate(store, 'service', migrations)
  } catch (error) {
    await store.destroy()
    throw error
  }
  return { store, commits: writer }
}
