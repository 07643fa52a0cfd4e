// Commands that administer the user's own service: --data or --database says which one, and the work is done in the running
// service, or directly on its data.

import { existsSync } from 'node:fs'
import { join } from 'node:path'
import type { Command } from 'commander'
import type { StorePlace } from '../service/store/opened-store.ts'
import type { AdminWork } from '../service/admin/reach-admin.ts'
import { addDatabaseOptions, databaseOf, type DatabaseOptions } from './database-options.ts'
import { UsageError } from './usage-error.ts'

export interface OwnServiceOptions extends DatabaseOptions {
  readonly data?: string
}

export function addOwnServiceOptions(command: Command): Command {
  return addDatabaseOptions(command.option('--data <dir>', "the service's data folder"))
}

/** Calls `work` with the service's administration: in the running service, if there is one. An AdminError becomes a UsageError. */
export async function withAdminOf(options: OwnServiceOptions, work: AdminWork): Promise<void> {
  const { data } = options
  const place = storePlaceOf(data, databaseOf(options))
  const { withAdmin } = await import('../service/admin/reach-admin.ts')
  try {
    await withAdmin(place, work)
  } catch (error) {
    if (error instanceof Error && error.name === 'AdminError') throw new UsageError(error.message)
    throw error
  }
}

function storePlaceOf(data: string | undefined, database: ReturnType<typeof databaseOf>): StorePlace {
  if (database !== undefined) return { database }
  if (data === undefined) throw new UsageError('--data (or --database) is missing: which service is it?')
  checkDataDir(data)
  return { dataDir: data }
}

/** Throws a UsageError if no service has ever used the folder. */
export function checkDataDir(dataDir: string): void {
  if (existsSync(join(dataDir, 'service.db'))) return
  throw new UsageError(
    `${dataDir} is no data folder of a service; docmount serve --data ${dataDir} makes one`,
  )
}
