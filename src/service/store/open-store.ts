// The store, whichever engine keeps it: chosen here, once. Differences between engines are hidden in the stores they open.

import type { Log } from '../../log.ts'
import { refuseBackup } from '../backup/manifest.ts'
import { refuseMoved } from '../move/moved-mark.ts'
import type { Store } from './database.ts'
import type { Schema } from './migrate.ts'
import { embeddedSchema, openEmbedded, openEmbeddedReader } from './open-embedded.ts'
import type { OpenedStore, SharedPlace, StorePlace } from './opened-store.ts'

/** Opens the store, made where missing, and brings its tables up to date. Throws a StartError where it has moved, or is a backup. */
export async function openStore(place: StorePlace, log?: Log): Promise<OpenedStore> {
  if (!isSharedPlace(place)) {
    refuseElsewhere(place.dataDir)
    return openEmbedded(place.dataDir)
  }
  const { openPostgres } = await import('./postgres/open-postgres.ts')
  return openPostgres(place, log)
}

/** Changes that opening it would make; none is made, and the store may be in use. Throws a StartError where it cannot be opened. */
export async function schemaOfStore(place: StorePlace): Promise<Schema> {
  if (!isSharedPlace(place)) {
    refuseElsewhere(place.dataDir)
    return embeddedSchema(place.dataDir)
  }
  const { postgresSchema } = await import('./postgres/open-postgres.ts')
  return postgresSchema(place)
}

/** For another thread that only reads. The store is open already. */
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
