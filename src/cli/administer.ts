// The administration of a service's data folder from the command line.

import { existsSync } from 'node:fs'
import { join } from 'node:path'
import type { Admin } from '../service/admin/admin.ts'
import { UsageError } from './usage-error.ts'

/** Through the service where one runs. What the administration refuses is a UsageError, one line. */
export async function withAdminOf(dataDir: string, work: (admin: Admin) => Promise<void>): Promise<void> {
  checkDataDir(dataDir)
  const { withAdmin } = await import('../service/admin/reach-admin.ts')
  try {
    await withAdmin(dataDir, work)
  } catch (error) {
    if (error instanceof Error && error.name === 'AdminError') throw new UsageError(error.message)
    throw error
  }
}

/** Throws a UsageError where no service has ever used the folder. */
export function checkDataDir(dataDir: string): void {
  if (existsSync(join(dataDir, 'service.db'))) return
  throw new UsageError(
    `${dataDir} is no data folder of a service; docmount serve --data ${dataDir} makes one`,
  )
}
