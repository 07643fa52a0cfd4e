// One service per data folder. The lock is an open transaction on a tiny database of its own: the operating system lets
// go of it when the process dies, however it dies.

import { join } from 'node:path'
import Libsql from 'libsql'
import { StartError } from '../start-error.ts'

/** Takes the folder; the answer gives it back. Throws a StartError naming it when another service holds it. */
export function lockDataDir(dataDir: string): () => void {
  const database = new Libsql(join(dataDir, 'service.lock'))
  try {
    // Without a journal beside it, for which a full disk would have no room.
    database.exec('pragma journal_mode = MEMORY; begin exclusive')
  } catch (error) {
    database.close()
    throw new StartError(`another docmount service is using ${dataDir}: stop it or choose another folder`, {
      cause: error,
    })
  }
  return () => database.close()
}
