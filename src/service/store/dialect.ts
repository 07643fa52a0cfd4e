// Kysely over two connections: this thread's own one, which in WAL mode waits for no writer, runs all selects outside of
// transactions; the writer's runs everything else.

import { setTimeout as sleep } from 'node:timers/promises'
import { SqliteIntrospector, SqliteQueryCompiler } from './kysely.ts'
import type { CompiledQuery, DatabaseConnection, Dialect, Driver, QueryResult } from './kysely.ts'
import { type Connection, isBusy } from './connection.ts'
import { refuseStreams, resultOf } from './dialect-local.ts'
import { EmbeddedAdapter } from './engine-adapter.ts'
import type { Writer } from './writer.ts'

/** Readers meet a lock only while another program recovers or rebuilds the database. */
const waitLimitMs = 10_000
const pauseMs = 10

export function dialectOf(reader: Connection, writer: Writer): Dialect {
  return {
    createAdapter: () => new EmbeddedAdapter(),
    createIntrospector: (store) => new SqliteIntrospector(store),
    createQueryCompiler: () => new SqliteQueryCompiler(),
    createDriver: () => new TwoConnections(reader, writer),
  }
}

class TwoConnections implements Driver {
  readonly #reader: Connection
  readonly #writer: Writer

  constructor(reader: Connection, writer: Writer) {
    this.#reader = reader
    this.#writer = writer
  }

  async init(): Promise<void> {}

  async acquireConnection(): Promise<SplitConnection> {
    return new SplitConnection(this.#reader, this.#writer)
  }

  async releaseConnection(): Promise<void> {}

  beginTransaction(connection: SplitConnection): Promise<void> {
    return connection.begin()
  }

  commitTransaction(connection: SplitConnection): Promise<void> {
    return connection.end(true)
  }

  rollbackTransaction(connection: SplitConnection): Promise<void> {
    return connection.end(false)
  }

  async destroy(): Promise<void> {
    await this.#writer.close()
    this.#reader.close()
  }
}

/** True for raw SQL that only reads. */
function isSelect(sql: string): boolean {
  return /^\s*select\b/i.test(sql)
}

/** Kysely's connection: selects go to the reader, a transaction (session) and all changes to the writer. */
class SplitConnection implements DatabaseConnection {
  readonly #reader: Connection
  readonly #writer: Writer
  /** The number of the transaction under way. */
  #session: number | undefined

  constructor(reader: Connection, writer: Writer) {
    this.#reader = reader
    this.#writer = writer
  }

  async begin(): Promise<void> {
    this.#session = await this.#writer.begin()
  }

  async end(isCommit: boolean): Promise<void> {
    const session = this.#session
    this.#session = undefined
    if (session !== undefined) await this.#writer.end(session, isCommit)
  }

  async executeQuery<Row>({ sql, parameters, query }: CompiledQuery): Promise<QueryResult<Row>> {
    if (this.#session !== undefined || !(query.kind === 'SelectQueryNode' || isSelect(sql))) {
      return resultOf(await this.#writer.statement(sql, parameters, this.#session))
    }
    const start = performance.now()
    for (;;) {
      try {
        return resultOf(this.#reader.execute(sql, parameters))
      } catch (error) {
        if (!isBusy(error) || performance.now() - start > waitLimitMs) throw error
      }
      await sleep(pauseMs)
    }
  }

  streamQuery = refuseStreams
}
