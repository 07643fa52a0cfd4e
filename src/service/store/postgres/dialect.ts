// Kysely over a pool of connections. Repeated queries are prepared once per connection.

import { PostgresAdapter, PostgresIntrospector, PostgresQueryCompiler, sql } from '../kysely.ts'
import type {
  CompiledQuery,
  DatabaseConnection,
  Dialect,
  Driver,
  QueryResult,
  RawBuilder,
} from '../kysely.ts'
import type pg from 'pg'
import { refuseStreams } from '../dialect-local.ts'
import { KeyedLock } from '../../blobs/keyed-lock.ts'
import { timeStoreCall } from '../../observe/store-calls.ts'
import type { EngineAdapter } from '../engine-adapter.ts'
import { bounds } from './pool.ts'
import { isBehindPooler } from './pooler.ts'
import { PoolTurns } from './turns.ts'
import { isOfConnection, refusalOf } from './refusals.ts'

/** `changed` is called after each statement but a select (see `otherChangeCount`). All dialects of one pool share its `turns`. */
export function postgresDialect(
  pool: pg.Pool,
  changed: () => void = () => undefined,
  turns: PoolTurns = new PoolTurns(pool),
): Dialect {
  return {
    createAdapter: () => new Adapter(turns),
    createIntrospector: (store) => new PostgresIntrospector(store),
    createQueryCompiler: () => new PostgresQueryCompiler(),
    createDriver: () => new PoolDriver(pool, changed),
  }
}

const setBounds = Object.entries(bounds)
  .map(([name, ms]) => `set local ${name} = ${ms}`)
  .join('; ')

class Adapter extends PostgresAdapter implements EngineAdapter {
  readonly tables: KeyedLock = new KeyedLock()
  readonly #turns: PoolTurns

  constructor(turns: PoolTurns) {
    super()
    this.#turns = turns
  }

  /** No document has an empty name. The order does not matter, because `parent_id` is no foreign key here. */
  readonly aside: RawBuilder<string> = sql`'//'`

  inTurn<Result>(projectId: string, work: () => Promise<Result>): Promise<Result> {
    return this.#turns.projects.take(projectId, work)
  }

  inLongTurn<Result>(work: () => Promise<Result>): Promise<Result> {
    return this.#turns.long.take('', work)
  }
}

class PoolDriver implements Driver {
  readonly #pool: pg.Pool
  readonly #changed: () => void

  constructor(pool: pg.Pool, changed: () => void) {
    this.#pool = pool
    this.#changed = changed
  }

  async init(): Promise<void> {}

  async acquireConnection(): Promise<PooledConnection> {
    try {
      const client = await timeStoreCall('postgres', 'connect', () => this.#pool.connect())
      return new PooledConnection(client, this.#changed)
    } catch (error) {
      throw refusalOf(error)
    }
  }

  async releaseConnection(connection: PooledConnection): Promise<void> {
    connection.release()
  }

  async beginTransaction(connection: PooledConnection): Promise<void> {
    await connection.begin()
  }

  commitTransaction(connection: PooledConnection): Promise<void> {
    return connection.control('commit')
  }

  async rollbackTransaction(connection: PooledConnection): Promise<void> {
    // The transaction ended with a broken connection, whose error was thrown before.
    await connection.control('rollback').catch(() => undefined)
  }

  async destroy(): Promise<void> {
    await this.#pool.end()
  }
}

class PooledConnection implements DatabaseConnection {
  readonly #client: pg.PoolClient
  readonly #changed: () => void
  #isBroken = false

  constructor(client: pg.PoolClient, changed: () => void) {
    this.#client = client
    this.#changed = changed
  }

  async executeQuery<Row>({ sql: text, parameters, query }: CompiledQuery): Promise<QueryResult<Row>> {
    const name = isBehindPooler(this.#client) ? undefined : nameOf(query)
    const answer = await this.#ask({
      text,
      values: parameters as unknown[],
      ...(name === undefined ? {} : { name }),
    })
    // The result of the last one of several statements.
    const { rows, rowCount, command } = [answer].flat().at(-1)!
    if (command === 'SELECT') return { rows: rows as Row[] }
    this.#changed()
    return { rows: rows as Row[], numAffectedRows: BigInt(rowCount ?? 0) }
  }

  /** A pooler drops the session's timeouts, so each transaction sets them. */
  begin(): Promise<void> {
    return this.control(isBehindPooler(this.#client) ? `begin; ${setBounds}` : 'begin')
  }

  async control(text: string): Promise<void> {
    await this.#ask({ text })
    this.#changed()
  }

  release(): void {
    this.#client.release(this.#isBroken)
  }

  streamQuery = refuseStreams

  async #ask(query: pg.QueryConfig): Promise<pg.QueryResult | pg.QueryResult[]> {
    try {
      return await timeStoreCall('postgres', 'query', () => this.#client.query(query))
    } catch (error) {
      if (isOfConnection(error)) this.#isBroken = true
      throw refusalOf(error)
    }
  }
}

/** Names of prepared statements. `prepared.ts` passes the same query object each time; other queries are seen only once. */
const preparedNames = new WeakMap<object, string>()
const seenOnce = new WeakSet<object>()
let nameCount = 0

function nameOf(query: object): string | undefined {
  const known = preparedNames.get(query)
  if (known !== undefined) return known
  if (!seenOnce.has(query)) {
    seenOnce.add(query)
    return undefined
  }
  const name = `q${++nameCount}`
  preparedNames.set(query, name)
  return name
}
