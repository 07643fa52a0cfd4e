// Record of one running mount, written by its daemon so that other processes find it. One JSON file per mount in the
// runtime folder; it may outlive its daemon (kill -9), hence `isAlive`.

import { readFile, readdir, rm } from 'node:fs/promises'
import { join } from 'node:path'
import { writeWhole } from '../write-whole.ts'
import type { DoorName, WebdavAddress } from './session-door.ts'

export interface MountRecord {
  readonly id: string
  readonly pid: number
  /** Start of the process in clock ticks since boot, as /proc tells: a reused pid has another. */
  readonly processStart: string
  /** ISO time. */
  readonly startedAt: string
  readonly project: string
  readonly baseUrl: string
  /** Without a mount: the address of the WebDAV door. */
  readonly mountpoint: string
  readonly driver: DoorName
  readonly webdav?: WebdavAddress | undefined
  readonly stateDir: string
  readonly cacheDir: string
  readonly logFile: string | undefined
  readonly socketPath: string
}

export async function writeMountRecord(runtimeDir: string, record: MountRecord): Promise<void> {
  await writeWhole(recordFile(runtimeDir, record.id), JSON.stringify(record))
}

/** Removes the record and the socket beside it. */
export async function removeMountRecord(runtimeDir: string, id: string): Promise<void> {
  await rm(recordFile(runtimeDir, id), { force: true })
  await rm(socketFile(runtimeDir, id), { force: true })
}

/** All records, of live and of dead daemons. Files that are no record are passed over. */
export async function readMountRecords(runtimeDir: string): Promise<readonly MountRecord[]> {
  const names = await readdir(runtimeDir).catch(() => [])
  const records = await Promise.all(
    names
      .filter((name) => name.endsWith('.json'))
      .map((name) => readFile(join(runtimeDir, name), 'utf8').then(parseRecord, () => undefined)),
  )
  return records.filter((record) => record !== undefined)
}

/** True while the very process that wrote the record runs. */
export async function isAlive(record: Pick<MountRecord, 'pid' | 'processStart'>): Promise<boolean> {
  return (await processStartOf(record.pid)) === record.processStart
}

/** Field 22 of /proc/PID/stat, counted behind the last `)`: the command's name may hold anything. */
export async function processStartOf(pid: number): Promise<string | undefined> {
  const text = await readFile(`/proc/${pid}/stat`, 'utf8').catch(() => '')
  const fields = text.slice(text.lastIndexOf(')') + 2).split(' ')
  // A zombie has let go of everything although its pid is still taken.
  return fields[0] === 'Z' || fields[0] === 'X' ? undefined : fields[19]
}

export function socketFile(runtimeDir: string, id: string): string {
  return join(runtimeDir, `${id}.sock`)
}

export function recordFile(runtimeDir: string, id: string): string {
  return join(runtimeDir, `${id}.json`)
}

function parseRecord(text: string): MountRecord | undefined {
  try {
    const value = JSON.parse(text) as Partial<MountRecord> | null
    const isRecord = typeof value?.mountpoint === 'string' && typeof value.pid === 'number'
    return isRecord ? (value as MountRecord) : undefined
  } catch {
    return undefined
  }
}
