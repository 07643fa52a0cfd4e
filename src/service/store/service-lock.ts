// The lock of a data folder: one service may use it. It is an open transaction on a tiny database of its own, so the operating
// system releases it whenever the process dies.

import { join } from 'node:path'
import Libsql from 'libsql'
import { StartError } from '../start-error.ts'

/** Locks the folder. Returns a function that releases it. Throws a StartError if another service has it. */
export function lockDataDir(dataDir: string): () => void {
  const database = new Libsql(join(dataDir, 'service.lock'))
  try {
    // In memory, because a full disk has no space for a journal file.
    database.exec('pragma journal_mode = MEMORY; begin exclusive')
  } catch (error) {
    database.close()
    throw new StartError(`another docmount service is using ${dataDir}: stop it or choose another folder`, {
      cause: error,
    })
  }
  return () => database.close()
}
