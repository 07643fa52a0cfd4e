// Opens the store over libsql: one file, WAL, an fsync per commit. A second process (`docmount keys`) may write too,
// briefly: whoever finds the file busy waits for a few seconds.

import { join } from 'node:path'
import { Kysely, SqliteDialect } from 'kysely'
import type { SqliteDatabase, SqliteStatement } from 'kysely'
import Libsql from 'libsql'
import type { Database, Store } from './database.ts'
import { migrate } from './migrate.ts'
import { migrations } from './migrations.ts'

const busyTimeoutMs = 5_000
const maxStatements = 500

/** Opens the store in `dataDir`, made where missing, and brings its tables up to date. Close with `store.destroy()`. */
export async function openStore(dataDir: string): Promise<Store> {
  const database = new Libsql(join(dataDir, 'service.db'), { timeout: busyTimeoutMs })
  for (const pragma of ['journal_mode = WAL', 'synchronous = FULL', 'foreign_keys = ON'])
    database.pragma(pragma)
  const store = new Kysely<Database>({
    dialect: new SqliteDialect({ database: withStatementCache(database) }),
  })
  await migrate(store, 'service', migrations)
  return store
}

/** Preparing a statement costs six times its execution, and kysely prepares each anew. */
function withStatementCache(database: Libsql.Database): SqliteDatabase {
  const statements = new Map<string, SqliteStatement>()
  return {
    close: () => {
      statements.clear()
      database.close()
    },
    prepare: (sql) => {
      const known = statements.get(sql)
      if (known !== undefined) return known
      const prepared = database.prepare(sql)
      const statement: SqliteStatement = {
        reader: prepared.reader,
        all: (parameters) => prepared.all(parameters),
        run: (parameters) => prepared.run(parameters),
        iterate: (parameters) => prepared.iterate(parameters),
      }
      if (statements.size >= maxStatements) statements.clear()
      statements.set(sql, statement)
      return statement
    },
  }
}
