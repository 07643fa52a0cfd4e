// All mount records of this user, also those of daemons that were started with another $XDG_RUNTIME_DIR or home folder.

import { whyNotOurs } from '../own-folder.ts'
import { DaemonError } from './daemon-error.ts'
import { findStateFolders } from './drive-file.ts'
import { isAlive, type MountRecord, readMountRecords } from './mount-record.ts'
import { ownEnvironments } from './own-environments.ts'
import { runtimeFolder } from './xdg.ts'

/** Resolves with the records in `runtimeDir`, and in the folders that state folders name. Throws a DaemonError for an unsafe one. */
export async function readOwnRecords(runtimeDir: string = runtimeFolder()): Promise<readonly MountRecord[]> {
  const reason = whyNotOurs(runtimeDir)
  if (reason !== undefined) throw new DaemonError(`the runtime folder is not safe: ${reason}`)
  const folders = new Set([runtimeDir])
  for (const { drive } of await findStateFolders())
    if (drive !== undefined && whyNotOurs(drive.runtimeDir) === undefined) folders.add(drive.runtimeDir)
  const records = await Promise.all([...folders].map(readMountRecords))
  return records.flat()
}

/** Resolves with records of live daemons that are not in `known`: this user started them with another home folder. */
export async function readRecordsOfOtherHomes(
  known: readonly MountRecord[],
): Promise<readonly MountRecord[]> {
  const sockets = new Set(known.map(({ socketPath }) => socketPath))
  const folders = new Set((await ownEnvironments()).map((environment) => runtimeFolder(environment)))
  const records = (await Promise.all([...folders].map(readMountRecords))).flat()
  const live: MountRecord[] = []
  for (const record of records)
    if (!sockets.has(record.socketPath) && (await isAlive(record))) live.push(record)
  return live
}

/** Resolves with the state folders that a daemon of this user uses. */
export async function servedStateFolders(): Promise<ReadonlySet<string>> {
  const served = new Set<string>()
  for (const record of await readOwnRecords()) if (await isAlive(record)) served.add(record.stateDir)
  return served
}
