// Changes of projects, keys, tables and runs beside HTTP, on their way to the audit log: kept with the database until a
// service writes it there, for whoever did it may have no log, and its service may not be running.

import { randomUUID } from 'node:crypto'
import type { Log } from '../../log.ts'
import type { ServiceContext } from '../context.ts'
import type { Store } from '../store/database.ts'

/** One change; `by` is a user of the machine it was made on. */
export interface AdministrativeChange {
  readonly change: string
  readonly by: string
  readonly project?: string
  /** Ids of keys that were made or revoked. */
  readonly keys?: readonly string[]
  readonly [detail: string]: unknown
}

/** Call it when the change is durable. */
export async function noteChange(store: Store, change: AdministrativeChange, now: number): Promise<void> {
  const entry = JSON.stringify({ ...change, at: new Date(now).toISOString() })
  await store.insertInto('administration').values({ id: randomUUID(), at: now, entry }).execute()
}

/** Writes what was noted into the audit log; of several nodes, one does. A failure leaves the changes for the next call. */
export function auditSoon({ store, audit, log }: Pick<ServiceContext, 'store' | 'audit' | 'log'>): void {
  auditNoted(store, audit).catch((error: unknown) =>
    log.warn({ error }, 'could not read what was administered'),
  )
}

async function auditNoted(store: Store, audit: Log): Promise<void> {
  // A reader is asked first: there is nothing nearly always.
  const [any] = await store.selectFrom('administration').select('id').limit(1).execute()
  if (any === undefined) return
  const noted = await store.deleteFrom('administration').returning(['at', 'entry']).execute()
  for (const { entry } of noted.toSorted((a, b) => a.at - b.at)) {
    const change = JSON.parse(entry) as AdministrativeChange
    audit.info(change, change.change)
  }
}
