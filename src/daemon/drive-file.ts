// `drive.json`, a file in each state folder that names its drive: it tells whose the folder is when its daemon is gone. For a state
// folder elsewhere (`--state-dir`), a copy in the default folder is the pointer by which later commands find it: `ID.drive.json`.

import type { Dirent } from 'node:fs'
import { mkdir, readFile, readdir } from 'node:fs/promises'
import { basename, dirname, join } from 'node:path'
import { ignoreMissing } from '../content/disk/enoent-tolerant.ts'
import { parseJson } from '../parse-json.ts'
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
  /** Path of the folder; of the pointer to it, if that is damaged. */
  readonly stateDir: string
  /** Undefined if the file is missing (the folder is of an earlier version), or there is a `problem` with it. */
  readonly drive: DriveFile | undefined
  /** Reason why the file tells nothing, for the user. */
  readonly problem?: string
}

class DamagedDriveFile extends DaemonError {}

/** Writes the file, and the pointer if the state folder lies elsewhere. */
export async function writeDriveFile(plan: MountPlan): Promise<void> {
  const { project, baseUrl, mountpoint, stateDir, runtimeDir } = plan
  const text = JSON.stringify({ project, baseUrl, mountpoint, stateDir, runtimeDir } satisfies DriveFile)
  await writeAt(join(stateDir, driveFileName), text)
  const pointer = pointerOf(plan)
  if (pointer !== undefined) await writeAt(pointer, text)
}

/**
 * Throws a DaemonError if the folder belongs to another project, or may: its unsent changes would be sent to this one. Another
 * base URL is allowed: a service may move, and its unsent changes are to follow. Throws the system's errors, too.
 */
export async function checkOwner(plan: MountPlan): Promise<void> {
  const { project, stateDir } = plan
  const drive = await readDriveFile(join(stateDir, driveFileName)).catch((error: unknown) => {
    if (error instanceof DamagedDriveFile) return ownerBesideFile(plan, error)
    throw error
  })
  if (drive === undefined || drive.project === project) return
  throw new DaemonError(
    `the state folder ${stateDir} is the project ${drive.project}'s (${drive.baseUrl}); choose another --state-dir for ${project}`,
  )
}

/** The folder's name, or the pointer to it, tells the owner as well. Throws a DaemonError where neither does. */
async function ownerBesideFile(plan: MountPlan, damage: DamagedDriveFile): Promise<DriveFile | undefined> {
  const { id, project, stateDir } = plan
  if (stateDir === join(xdgFolder('state'), id)) return undefined
  const pointer = pointerOf(plan)
  const drive = pointer === undefined ? undefined : await readDriveFile(pointer).catch(() => undefined)
  if (drive?.stateDir === stateDir) return drive
  throw new DaemonError(
    `${damage.message}, and does not say whose unsent changes are beside it: if they are ${project}'s, remove that file and mount again; else choose another --state-dir`,
    { cause: damage },
  )
}

/** Returns the path of the pointer; undefined if none is needed, or the default folder is on the drive itself. */
export function pointerOf({ id, stateDir, mountpoint }: MountPlan): string | undefined {
  const folder = xdgFolder('state')
  const isElsewhere = dirname(stateDir) !== folder && !isAtOrUnder(folder, mountpoint)
  return isElsewhere ? join(folder, `${id}.${driveFileName}`) : undefined
}

/** Resolves with all state folders of this user, the damaged pointers to others, and their parent folder if it cannot be read. */
export async function findStateFolders(): Promise<readonly StateFolder[]> {
  const folder = xdgFolder('state')
  let names: Dirent[]
  try {
    names = await readdir(folder, { withFileTypes: true })
  } catch (error) {
    const { code, message } = error as NodeJS.ErrnoException
    return code === 'ENOENT' ? [] : [{ stateDir: folder, drive: undefined, problem: message }]
  }
  const found = new Map<string, StateFolder>()
  const read = (file: string): Promise<Pick<StateFolder, 'drive' | 'problem'>> =>
    readDriveFile(file).then(
      (drive) => ({ drive }),
      (error: Error) => ({ drive: undefined, problem: problemOf(file, error) }),
    )
  for (const entry of names) {
    const path = join(folder, entry.name)
    // `run` is the runtime folder of a user without XDG_RUNTIME_DIR.
    if (entry.isDirectory() && entry.name !== 'run') {
      found.set(path, { stateDir: path, ...(await read(join(path, driveFileName))) })
    } else if (entry.name.endsWith(`.${driveFileName}`)) {
      const { drive, problem } = await read(path)
      if (problem !== undefined) found.set(path, { stateDir: path, drive, problem })
      if (drive === undefined) continue
      const { stateDir } = drive
      // The folder's own file is newer: it may have been used with another address or mountpoint since.
      const own = await read(join(stateDir, driveFileName))
      found.set(stateDir, { stateDir, drive: own.drive ?? drive })
    }
  }
  return [...found.values()]
}

async function writeAt(file: string, text: string): Promise<void> {
  await mkdir(dirname(file), { recursive: true, mode: 0o700 })
  await writeWhole(file, text)
}

function problemOf(file: string, { message }: Error): string {
  const told =
    basename(file) === driveFileName
      ? 'whose these changes are'
      : 'where its drive keeps changes (--state-dir)'
  return `${message}: it does not say ${told}`
}

/** Undefined where there is no such file. Throws a DamagedDriveFile, and the system's other errors. */
async function readDriveFile(file: string): Promise<DriveFile | undefined> {
  const text = await readFile(file, 'utf8').catch(ignoreMissing)
  if (text === undefined) return undefined
  const value = parseJson(text) as Partial<DriveFile> | null | undefined
  const { project, baseUrl, mountpoint, stateDir, runtimeDir } = value ?? {}
  const fields = [project, baseUrl, mountpoint, stateDir, runtimeDir]
  if (fields.every((field) => typeof field === 'string')) return value as DriveFile
  throw new DamagedDriveFile(`${file} is damaged`)
}
