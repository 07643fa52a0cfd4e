// `drive.json`, a file in each state folder that names its drive: it tells whose the folder is when its daemon is gone. For a state
// folder elsewhere (`--state-dir`), a copy in the default folder is the pointer by which later commands find it: `ID.drive.json`.

import { mkdir, readFile, readdir } from 'node:fs/promises'
import { dirname, join } from 'node:path'
import { writeWhole } from '../write-whole.ts'
import { DaemonError } from './daemon-error.ts'
import { isAtOrUnder } from './path-inside.ts'
import type { MountPlan } from './mount-plan.ts'
import { xdgFolder } from './xdg.ts'

export const driveFileName = 'drive.json'

/** Content of the file. */
export interface DriveFile {
  readonly project: string
  readonly baseUrl: string
  readonly mountpoint: string
  readonly stateDir: string
  /** Folder of its daemon's mount record. */
  readonly runtimeDir: string
}

export interface StateFolder {
  readonly stateDir: string
  /** Undefined if the file is missing: the folder is of an earlier version. */
  readonly drive: DriveFile | undefined
}

/** Writes the file, and the pointer if the state folder lies elsewhere. */
export async function writeDriveFile(plan: MountPlan): Promise<void> {
  const { project, baseUrl, mountpoint, stateDir, runtimeDir } = plan
  const text = JSON.stringify({ project, baseUrl, mountpoint, stateDir, runtimeDir } satisfies DriveFile)
  await writeAt(join(stateDir, driveFileName), text)
  const pointer = pointerOf(plan)
  if (pointer !== undefined) await writeAt(pointer, text)
}

/**
 * Throws a DaemonError if the folder belongs to another project: its unsent changes would be sent to this one. Another base
 * URL is allowed: a service may move, and its unsent changes are to follow. Throws the system's errors, too.
 */
export async function checkOwner({ project, stateDir }: MountPlan): Promise<void> {
  const drive = await readDriveFile(join(stateDir, driveFileName))
  if (drive === undefined || drive.project === project) return
  throw new DaemonError(
    `the state folder ${stateDir} is the project ${drive.project}'s (${drive.baseUrl}); choose another --state-dir for ${project}`,
  )
}

/** Returns the path of the pointer; undefined if none is needed, or the default folder is on the drive itself. */
export function pointerOf({ id, stateDir, mountpoint }: MountPlan): string | undefined {
  const folder = xdgFolder('state')
  const isElsewhere = dirname(stateDir) !== folder && !isAtOrUnder(folder, mountpoint)
  return isElsewhere ? join(folder, `${id}.${driveFileName}`) : undefined
}

/** Resolves with all state folders of this user. */
export async function findStateFolders(): Promise<readonly StateFolder[]> {
  const folder = xdgFolder('state')
  const names = await readdir(folder, { withFileTypes: true }).catch(() => [])
  const found = new Map<string, StateFolder>()
  const read = (file: string): Promise<DriveFile | undefined> => readDriveFile(file).catch(() => undefined)
  for (const entry of names) {
    const path = join(folder, entry.name)
    // `run` is the runtime folder of a user without XDG_RUNTIME_DIR.
    if (entry.isDirectory() && entry.name !== 'run') {
      found.set(path, { stateDir: path, drive: await read(join(path, driveFileName)) })
    } else if (entry.name.endsWith(`.${driveFileName}`)) {
      const drive = await read(path)
      if (drive === undefined) continue
      const { stateDir } = drive
      // The folder's own file is newer: it may have been used with another address or mountpoint since.
      found.set(stateDir, { stateDir, drive: (await read(join(stateDir, driveFileName))) ?? drive })
    }
  }
  return [...found.values()]
}

async function writeAt(file: string, text: string): Promise<void> {
  await mkdir(dirname(file), { recursive: true, mode: 0o700 })
  await writeWhole(file, text)
}

async function readDriveFile(file: string): Promise<DriveFile | undefined> {
  try {
    const value = JSON.parse(await readFile(file, 'utf8')) as Partial<DriveFile> | null
    const { project, baseUrl, mountpoint, stateDir, runtimeDir } = value ?? {}
    const fields = [project, baseUrl, mountpoint, stateDir, runtimeDir]
    return fields.every((field) => typeof field === 'string') ? (value as DriveFile) : undefined
  } catch (error) {
    if (((error as NodeJS.ErrnoException).code ?? 'ENOENT') !== 'ENOENT') throw error
    return undefined
  }
}
