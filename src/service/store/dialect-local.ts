// Kysely over one connection of this thread. The caller begins and ends transactions.

import { Kysely, type QueryResult, SqliteIntrospector, SqliteQueryCompiler } from './kysely.ts'
import type { CompiledQuery, DatabaseConnection } from './kysely.ts'
import type { Answer, Connection } from './connection.ts'
import type { Database } from './database.ts'
import { EmbeddedAdapter } from './engine-adapter.ts'

/** Shows `prepared.ts` that it may use the connection directly: there is only one, and Kysely runs no transactions on it. */
export class LocalAdapter extends EmbeddedAdapter {
  readonly connection: Connection

  constructor(connection: Connection) {
    super()
    this.connection = connection
  }
}

export function kyselyOver(connection: Connection): Kysely<Database> {
  const only: DatabaseConnection = {
    executeQuery: async <Row>(query: CompiledQuery) =>
      resultOf<Row>(connection.execute(query.sql, query.parameters)),
    streamQuery: refuseStreams,
  }
  const nothing = async (): Promise<void> => {}
  const refuse = (): Promise<never> => Promise.reject(new TypeError('a change is in a transaction already'))
  return new Kysely<Database>({
    dialect: {
      createAdapter: () => new LocalAdapter(connection),
      createIntrospector: (store) => new SqliteIntrospector(store),
      createQueryCompiler: () => new SqliteQueryCompiler(),
      createDriver: () => ({
        init: nothing,
        acquireConnection: async () => only,
        releaseConnection: nothing,
        beginTransaction: refuse,
        commitTransaction: refuse,
        rollbackTransaction: refuse,
        destroy: nothing,
      }),
    },
  })
}

/** The result of a statement in Kysely's form. */
export function resultOf<Row>({ rows, changes }: Answer): QueryResult<Row> {
  return changes === undefined
    ? { rows: rows as Row[] }
    : { rows: rows as Row[], numAffectedRows: BigInt(changes) }
}

// eslint-disable-next-line require-yield
export async function* refuseStreams(): AsyncIterableIterator<never> {
  throw new TypeError('rows are read in pages, not streamed')
}
