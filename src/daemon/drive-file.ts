// Which drive a state folder belongs to, in a small file inside it: so that the folder is understood when its daemon is
// gone, and found when it lies elsewhere.

import { mkdir, readFile, readdir } from 'node:fs/promises'
import { dirname, join } from 'node:path'
import { writeWhole } from '../write-whole.ts'
import { DaemonError } from './daemon-error.ts'
import { isAtOrUnder } from './path-inside.ts'
import type { MountPlan } from './mount-plan.ts'
import { xdgFolder } from './xdg.ts'

export const driveFileName = 'drive.json'

/** Facts about a drive that outlast its daemon. */
export interface DriveFile {
  readonly project: string
  readonly baseUrl: string
  readonly mountpoint: string
  readonly stateDir: string
  /** Where its daemon's mount record is. */
  readonly runtimeDir: string
}

export interface StateFolder {
  readonly stateDir: string
  /** Undefined where the folder does not tell: an earlier docmount made it. */
  readonly drive: DriveFile | undefined
}

/** Remembers the drive in its state folder, and where that is not at the usual place, there as well. */
export async function writeDriveFile(plan: MountPlan): Promise<void> {
  const { project, baseUrl, mountpoint, stateDir, runtimeDir } = plan
  const text = JSON.stringify({ project, baseUrl, mountpoint, stateDir, runtimeDir } satisfies DriveFile)
  await writeBeside(join(stateDir, driveFileName), text)
  const pointer = pointerOf(plan)
  if (pointer !== undefined) await writeBeside(pointer, text)
}

/**
 * Throws a DaemonError where the folder is another project's: what that has not got yet would be sent to this one. Another
 * address is no other project: a service moves, and this is how what was left goes after it.
 */
export async function checkOwner({ project, stateDir }: MountPlan): Promise<void> {
  const drive = await readDriveFile(join(stateDir, driveFileName))
  if (drive === undefined || drive.project === project) return
  throw new DaemonError(
    `the state folder ${stateDir} is the project ${drive.project}'s (${drive.baseUrl}); choose another --state-dir for ${project}`,
  )
}

/** Where a drive is remembered whose state folder lies elsewhere; undefined where that is not needed, or not possible. */
export function pointerOf({ id, stateDir, mountpoint }: MountPlan): string | undefined {
  const folder = xdgFolder('state')
  const isElsewhere = dirname(stateDir) !== folder && !isAtOrUnder(folder, mountpoint)
  return isElsewhere ? join(folder, `${id}.${driveFileName}`) : undefined
}

/** Every state folder of this user, whatever is in it. */
export async function findStateFolders(): Promise<readonly StateFolder[]> {
  const folder = xdgFolder('state')
  const names = await readdir(folder, { withFileTypes: true }).catch(() => [])
  const found = new Map<string, StateFolder>()
  for (const entry of names) {
    const path = join(folder, entry.name)
    if (entry.isDirectory() && entry.name !== 'run') {
      found.set(path, { stateDir: path, drive: await readDriveFile(join(path, driveFileName)) })
    } else if (entry.name.endsWith(`.${driveFileName}`)) {
      const drive = await readDriveFile(path)
      if (drive === undefined) continue
      const { stateDir } = drive
      // The folder itself knows best: it may have been used for another address or place since.
      found.set(stateDir, { stateDir, drive: (await readDriveFile(join(stateDir, driveFileName))) ?? drive })
    }
  }
  return [...found.values()]
}

async function writeBeside(file: string, text: string): Promise<void> {
  await mkdir(dirname(file), { recursive: true, mode: 0o700 })
  await writeWhole(file, text)
}

async function readDriveFile(file: string): Promise<DriveFile | undefined> {
  try {
    const value = JSON.parse(await readFile(file, 'utf8')) as Partial<DriveFile> | null
    const { project, baseUrl, mountpoint, stateDir, runtimeDir } = value ?? {}
    const fields = [project, baseUrl, mountpoint, stateDir, runtimeDir]
    return fields.every((field) => typeof field === 'string') ? (value as DriveFile) : undefined
  } catch {
    return undefined
  }
}
