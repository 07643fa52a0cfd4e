// Finds out whether a connection leads to a pooler. Behind PgBouncer in transaction mode a session is nobody's: what
// is prepared, or set, in one transaction may be unknown in the next.

import type pg from 'pg'

const pooled = new WeakSet<pg.ClientBase>()

/** For each new connection, before it is used: a pooler gives out numbers of its own for PostgreSQL's processes. */
export function lookForPooler(client: pg.ClientBase, done: (error?: Error) => void): void {
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
