// The connections of one node. One that breaks is thrown away, and the next request opens another.

import pg from 'pg'
import type { Log } from '../../../log.ts'
import { type PostgresAddress, connectionOf } from './address.ts'
import { lookForPooler } from './pooler.ts'

/** PostgreSQL has 100 by default, for all nodes and everybody else. */
const maxConnections = 16
/** Milliseconds, by PostgreSQL's names. */
export const bounds = {
  statement_timeout: 60_000,
  lock_timeout: 20_000,
  /** A node that stops in the middle of a transaction does not keep its locks. */
  idle_in_transaction_session_timeout: 30_000,
} as const
const int8 = 20

export function openPool(address: PostgresAddress, log: Log, max: number = maxConnections): pg.Pool {
  const pool = new pg.Pool({
    ...connectionOf(address),
    ...bounds,
    // For a place in the pool and for the connection.
    connectionTimeoutMillis: 15_000,
    idleTimeoutMillis: 60_000,
    verify: lookForPooler,
    max,
    keepAlive: true,
    application_name: 'docmount',
    types: {
      // Sizes and times: all of them are whole numbers below 2^53.
      getTypeParser: ((type: number, format: 'text' | 'binary') =>
        type === int8 ? Number : pg.types.getTypeParser(type, format)) as typeof pg.types.getTypeParser,
    },
  })
  pool.on('error', (error) => log.warn({ error }, 'a connection to the database has ended'))
  // While it is in use, whoever uses it is told by its query.
  pool.on('connect', (client) => client.on('error', () => undefined))
  return pool
}
