// The database connections of one process. A broken one is discarded, and the next request opens another.

import pg from 'pg'
import type { Log } from '../../../log.ts'
import { type PostgresAddress, connectionOf } from './address.ts'
import { detectPooler } from './pooler.ts'

/** PostgreSQL allows 100 by default, for all processes of the service and all other programs. */
const maxConnections = 16
/** PostgreSQL's timeouts, in milliseconds. */
export const bounds = {
  statement_timeout: 60_000,
  lock_timeout: 20_000,
  /** A process that hangs within a transaction loses its locks. */
  idle_in_transaction_session_timeout: 30_000,
} as const
/** Type id of bigint. */
const int8 = 20

export function openPool(address: PostgresAddress, log: Log, max: number = maxConnections): pg.Pool {
  const pool = new pg.Pool({
    ...connectionOf(address),
    ...bounds,
    // Limit of the wait for a free connection, and of connecting.
    connectionTimeoutMillis: 15_000,
    idleTimeoutMillis: 60_000,
    verify: detectPooler,
    max,
    keepAlive: true,
    application_name: 'docmount',
    types: {
      // As numbers: all are sizes and times below 2^53.
      getTypeParser: ((type: number, format: 'text' | 'binary') =>
        type === int8 ? Number : pg.types.getTypeParser(type, format)) as typeof pg.types.getTypeParser,
    },
  })
  pool.on('error', (error) => log.warn({ error }, 'a connection to the database has ended'))
  // While a connection is in use, its query rejects; an `error` event without a listener would end the process.
  pool.on('connect', (client) => client.on('error', () => undefined))
  return pool
}
