// The record of a running mount, by which other processes find its daemon: one JSON file per mount in the runtime folder. It may
// outlive its daemon (kill -9), hence `isAlive`.

import { readFile, readdir, rm } from 'node:fs/promises'
import { join } from 'node:path'
import { writeWhole } from '../write-whole.ts'
import type { DoorName, WebdavAddress } from './session-door.ts'

export interface MountRecord {
  readonly id: string
  readonly pid: number
  /** Start of the process in clock ticks since boot: a process with a reused pid has another. */
  readonly processStart: string
  /** ISO time. */
  readonly startedAt: string
  readonly project: string
  readonly baseUrl: string
  /** For a drive without a mount: the address of its WebDAV door. */
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

/** Resolves with all records, of live and of dead daemons. Other files are ignored. */
export async function readMountRecords(runtimeDir: string): Promise<readonly MountRecord[]> {
  const names = await readdir(runtimeDir).catch(() => [])
  const records = await Promise.all(
    names
      .filter((name) => name.endsWith('.json'))
      .map((name) => readFile(join(runtimeDir, name), 'utf8').then(parseRecord, () => undefined)),
  )
  return records.filter((record) => record !== undefined)
}

/** True while the process that wrote the record runs. */
export async function isAlive(record: Pick<MountRecord, 'pid' | 'processStart'>): Promise<boolean> {
  return (await processStartOf(record.pid)) === record.processStart
}

/** Resolves with field 22 of /proc/PID/stat, counted from the last `)`, since the command's name may contain any character. */
export async function processStartOf(pid: number): Promise<string | undefined> {
  const text = await readFile(`/proc/${pid}/stat`, 'utf8').catch(() => '')
  const fields = text.slice(text.lastIndexOf(')') + 2).split(' ')
  // A zombie has released everything, though its pid is still in use.
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
