// Opens the store on PostgreSQL, which any number of processes of the service may share.

import { setInterval as every } from 'node:timers/promises'
import { Kysely, sql } from '../kysely.ts'
import { StartError } from '../../start-error.ts'
import type { Log } from '../../../log.ts'
import { silentLog } from '../../../log.ts'
import { openSharedBackend } from '../../blobs/open-shared-backend.ts'
import { SharedContents } from '../../blobs/shared-contents.ts'
import type { Database, Store } from '../database.ts'
import { type Parts, type Schema, migrateAll, schemaOfAll } from '../migrate.ts'
import type { OpenedStore, SharedPlace } from '../opened-store.ts'
import { checkAddress } from './address.ts'
import { SharedCommits } from './changes.ts'
import { DatabaseClock } from './clock.ts'
import { postgresDialect } from './dialect.ts'
import { migrations } from './migrations.ts'
import { bounds, openPool } from './pool.ts'
import { forgetFull, tallyOver } from './request-tally.ts'
import { SharedSecrets } from './shared-secrets.ts'
import { PoolTurns } from './turns.ts'

const upkeepMs = 60_000
const defaultGraceMs = 86_400_000
const parts: Parts = { service: migrations }

/** Opens the store for another thread that only reads. */
export function openPostgresReader({ database }: SharedPlace): Store {
  return new Kysely<Database>({ dialect: postgresDialect(openPool(database, silentLog, 2)) })
}

/** The migrations that `openPostgres` would run. Changes nothing. Throws a StartError as `openPostgres`. */
export async function postgresSchema(place: SharedPlace): Promise<Schema> {
  await checkAddress(place.database)
  const store = openPostgresReader(place)
  try {
    await sql`select 1`.execute(store).catch(refuse)
    return await schemaOfAll(store, parts)
  } finally {
    await store.destroy()
  }
}

/** Opens the store in `place` and migrates its tables, created if missing. Throws a StartError if the database cannot be used. */
export async function openPostgres(place: SharedPlace, log: Log = silentLog): Promise<OpenedStore> {
  await checkAddress(place.database)
  const pool = openPool(place.database, log)
  const turns = new PoolTurns(pool)
  /** For changes of nodes, contents and request rates, which `otherChangeCount` does not count. */
  const inner = new Kysely<Database>({ dialect: postgresDialect(pool, undefined, turns) })
  const commits: SharedCommits = new SharedCommits(inner)
  const store = new Kysely<Database>({ dialect: postgresDialect(pool, () => commits.noteOther(), turns) })
  const clock = new DatabaseClock()
  const secrets = new SharedSecrets(store, clock.now)
  const closing = new AbortController()
  const doUpkeep = async (): Promise<void> => {
    await clock.set(store)
    await secrets.refresh()
    await forgetFull(inner)
  }
  try {
    await clock.set(store).catch(refuse)
    await migrateAll(store, parts)
    await doUpkeep()
  } catch (error) {
    await store.destroy()
    throw error
  }
  const upkeep = keepUp(doUpkeep, log, closing.signal)
  return {
    store,
    commits,
    now: clock.now,
    isShared: true,
    // An index entry of 2,704 bytes holds the path, also of a node moved aside, and the project's id.
    maxPathBytes: 2_560,
    linkSecrets: () => Promise.resolve(secrets),
    openContents: async (contentsLog) =>
      new SharedContents({
        backend: await openSharedBackend(place, clock.now),
        store,
        commits,
        now: clock.now,
        graceMs: place.graceMs ?? defaultGraceMs,
        log: contentsLog,
      }),
    tallies: { keys: tallyOver(inner, 'key'), addresses: tallyOver(inner, 'address') },
    // Autovacuum of PostgreSQL does this.
    tidying: () => ({ ask: () => undefined, stop: () => Promise.resolve() }),
    connections: () => ({
      busy: pool.totalCount - pool.idleCount,
      idle: pool.idleCount,
      waiting: pool.waitingCount,
    }),
    sizes: async () => {
      const { rows } = await sql<{
        bytes: number
      }>`select pg_database_size(current_database()) as bytes`.execute(store)
      return { postgres: rows[0]!.bytes }
    },
    close: async () => {
      closing.abort()
      await upkeep
      await store.destroy()
    },
  }
}

function refuse(error: unknown): never {
  throw new StartError(`the database cannot be used: ${reasonOf(error)}`, { cause: error })
}

function reasonOf(error: unknown): string {
  const { cause = error } = error as { cause?: unknown }
  if (!(cause instanceof Error)) return String(cause)
  if (!cause.message.startsWith('unsupported startup parameter')) return cause.message
  return `${cause.message} (behind PgBouncer set ignore_startup_parameters = ${Object.keys(bounds).join(',')})`
}

async function keepUp(doUpkeep: () => Promise<void>, log: Log, signal: AbortSignal): Promise<void> {
  try {
    for await (const _ of every(upkeepMs, undefined, { signal, ref: false }))
      await doUpkeep().catch((error: unknown) => log.warn({ error }, 'could not read clock and secrets'))
  } catch (error) {
    if (!signal.aborted) throw error
  }
}
