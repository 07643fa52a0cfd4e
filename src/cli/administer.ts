// The administration of a service from the command line: of its data folder, or of the database its nodes share.

import { existsSync } from 'node:fs'
import { join } from 'node:path'
import type { Command } from 'commander'
import type { StorePlace } from '../service/store/opened-store.ts'
import type { AdminWork } from '../service/admin/reach-admin.ts'
import { addDatabaseOptions, databaseOf, type DatabaseOptions } from './database-options.ts'
import { UsageError } from './usage-error.ts'

export interface PlaceOptions extends DatabaseOptions {
  readonly data?: string
}

export function addPlaceOptions(command: Command): Command {
  return addDatabaseOptions(command.option('--data <dir>', "the service's data folder"))
}

/** Through the service where one runs. Refusals of the administration become a UsageError, one line. */
export async function withAdminOf(options: PlaceOptions, work: AdminWork): Promise<void> {
  const { data } = options
  const place = placeOf(data, databaseOf(options))
  const { withAdmin } = await import('../service/admin/reach-admin.ts')
  try {
    await withAdmin(place, work)
  } catch (error) {
    if (error instanceof Error && error.name === 'AdminError') throw new UsageError(error.message)
    throw error
  }
}

function placeOf(data: string | undefined, database: ReturnType<typeof databaseOf>): StorePlace {
  if (database !== undefined) return { database }
  if (data === undefined) throw new UsageError('--data (or --database) is missing: which service is it?')
  checkDataDir(data)
  return { dataDir: data }
}

/** Throws a UsageError where no service has ever used the folder. */
export function checkDataDir(dataDir: string): void {
  if (existsSync(join(dataDir, 'service.db'))) return
  throw new UsageError(
    `${dataDir} is no data folder of a service; docmount serve --data ${dataDir} makes one`,
  )
}
