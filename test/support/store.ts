// Which store the service of a test keeps: the embedded one, or with DOCMOUNT_TEST_STORE=postgres a database for each data
// folder. Tests of what only the embedded one has are left out then.

import type { ServiceOptions } from '../../src/service/index.ts'
import { freshDatabase } from './postgres.ts'

export const isOnPostgres: boolean = process.env['DOCMOUNT_TEST_STORE'] === 'postgres'

const databases = new Map<string, Promise<NonNullable<ServiceOptions['database']>>>()

/** The store that belongs to the folder: the same for the same one. */
export async function storeOf(dataDir: string): Promise<Pick<ServiceOptions, 'dataDir' | 'database'>> {
  if (!isOnPostgres) return { dataDir }
  let database = databases.get(dataDir)
  if (database === undefined) databases.set(dataDir, (database = freshDatabase()))
  return { dataDir, database: await database }
}
