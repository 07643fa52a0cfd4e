// Detects connections to a pooler. Behind PgBouncer in transaction mode a connection has no session of its own: statements
// prepared, and settings made, in one transaction may be missing in the next.

import type pg from 'pg'

const pooled = new WeakSet<pg.ClientBase>()

/** Checks each new connection before its first use: a pooler reports process ids of its own in place of PostgreSQL's. */
export function detectPooler(client: pg.ClientBase, done: (error?: Error) => void): void {
  client.query(
    'select pg_backend_pid() as pid',
    (error: Error | null, result?: pg.QueryResult<{ pid: number }>) => {
      const { processID } = client as pg.ClientBase & { readonly processID: number | null }
      if (error === null && result?.rows[0]?.pid !== processID) pooled.add(client)
      done(error ?? undefined)
    },
  )
}

export function isBehindPooler(client: pg.ClientBase): boolean {
  return pooled.has(client)
}
