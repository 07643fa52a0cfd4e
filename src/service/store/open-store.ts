// Chooses the engine of the store. The rest of the service sees no difference between engines but through `OpenedStore`.

import type { Log } from '../../log.ts'
import { refuseBackup } from '../backup/manifest.ts'
import { refuseMoved } from '../move/moved-mark.ts'
import type { Store } from './database.ts'
import type { Schema } from './migrate.ts'
import { embeddedSchema, openEmbedded, openEmbeddedReader } from './open-embedded.ts'
import type { OpenedStore, SharedPlace, StorePlace } from './opened-store.ts'

/** Opens the store, created if missing, and migrates its tables. Throws a StartError if it was moved elsewhere, or is a backup. */
export async function openStore(place: StorePlace, log?: Log): Promise<OpenedStore> {
  if (!isSharedPlace(place)) {
    refuseElsewhere(place.dataDir)
    return openEmbedded(place.dataDir)
  }
  const { openPostgres } = await import('./postgres/open-postgres.ts')
  return openPostgres(place, log)
}

/**
 * The migrations that `openStore` would run. Changes nothing, and the store may be in use. Throws a StartError if it cannot be
 * opened.
 */
export async function schemaOfStore(place: StorePlace): Promise<Schema> {
  if (!isSharedPlace(place)) {
    refuseElsewhere(place.dataDir)
    return embeddedSchema(place.dataDir)
  }
  const { postgresSchema } = await import('./postgres/open-postgres.ts')
  return postgresSchema(place)
}

/** Opens the store for another thread that only reads; `openStore` has prepared it. */
export async function openReader(place: StorePlace): Promise<Store> {
  if (!isSharedPlace(place)) return openEmbeddedReader(place.dataDir)
  const { openPostgresReader } = await import('./postgres/open-postgres.ts')
  return openPostgresReader(place)
}

function refuseElsewhere(dataDir: string): void {
  refuseBackup(dataDir)
  refuseMoved(dataDir)
}

function isSharedPlace(place: StorePlace): place is SharedPlace {
  return place.database !== undefined
}
