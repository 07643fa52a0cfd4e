// The store of a test's service: the embedded one, or with DOCMOUNT_TEST_STORE=postgres one database per data folder. Tests of
// the embedded store itself are skipped then (`isOnPostgres`).

import type { ServiceOptions } from '../../src/service/index.ts'
import { freshDatabase } from './postgres.ts'

export const isOnPostgres: boolean = process.env['DOCMOUNT_TEST_STORE'] === 'postgres'

const databases = new Map<string, Promise<NonNullable<ServiceOptions['database']>>>()

/** Returns the store options for a data folder; the same database for the same folder. */
export async function storeOf(dataDir: string): Promise<Pick<ServiceOptions, 'dataDir' | 'database'>> {
  if (!isOnPostgres) return { dataDir }
  let database = databases.get(dataDir)
  if (database === undefined) databases.set(dataDir, (database = freshDatabase()))
  return { dataDir, database: await database }
}
