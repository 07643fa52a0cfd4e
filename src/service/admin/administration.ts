// Records of administrative changes for the audit log. Each is stored in the database until a service writes it to its audit log,
// because the command line that makes the change has none, and the service may not be running.

import { randomUUID } from 'node:crypto'
import type { Log } from '../../log.ts'
import type { ServiceContext } from '../context.ts'
import type { Store } from '../store/database.ts'

/** One change; `by` is the name of a user of the machine it was made on. */
export interface AdministrativeChange {
  readonly change: string
  readonly by: string
  readonly project?: string
  /** Ids of keys that were made or revoked. */
  readonly keys?: readonly string[]
  readonly [detail: string]: unknown
}

/** Records a change in the database. Call it when the change is durable. */
export async function noteChange(store: Store, change: AdministrativeChange, now: number): Promise<void> {
  const entry = JSON.stringify({ ...change, at: new Date(now).toISOString() })
  await store.insertInto('administration').values({ id: randomUUID(), at: now, entry }).execute()
}

/** Moves the recorded changes to the audit log, each on one node only. After a failure to read them, the next call tries again. */
export function auditSoon({ store, audit, log }: Pick<ServiceContext, 'store' | 'audit' | 'log'>): void {
  auditNoted(store, audit).catch((error: unknown) =>
    log.warn({ error }, 'could not read what was administered'),
  )
}

async function auditNoted(store: Store, audit: Log): Promise<void> {
  // A cheap read comes first: nearly always there is nothing.
  const [any] = await store.selectFrom('administration').select('id').limit(1).execute()
  if (any === undefined) return
  const noted = await store.deleteFrom('administration').returning(['at', 'entry']).execute()
  for (const { entry } of noted.toSorted((a, b) => a.at - b.at)) {
    const change = JSON.parse(entry) as AdministrativeChange
    audit.info(change, change.change)
  }
}
