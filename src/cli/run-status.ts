// Implements `docmount status`. It never stats a mount, because a hung mount would hang this command, too.

import type { MountStatus } from '../daemon/control-protocol.ts'
import { resolve } from 'node:path'
import { findStateFolders, type DriveFile } from '../daemon/drive-file.ts'
import { findMounts, type FoundMount, isOwn, isUrl } from '../daemon/find-mount.ts'
import { isAtOrUnder } from '../daemon/path-inside.ts'
import { CommandError } from './command-error.ts'
import { findLeftFolders, isEmpty, type LeftFolder, readLeftBehind } from '../daemon/left-behind.ts'
import type { Place, Unsent } from '../fs/status.ts'
import { exitCodes } from './exit-codes.ts'
import { firstTen } from './first-ten.ts'
import { askDrive, describeDead, describeSilent, findDriveIfAny, noDriveError } from './find-drive.ts'
import { leftLines, leftSummary, resumeCommand } from './left-text.ts'
import { jsonText } from './output.ts'
import { placeLine } from './place-text.ts'
import { describeDrive, describeLeft } from './status-text.ts'
import { unsentLine, unsentSum } from './unsent-text.ts'
import { watch } from './watch.ts'

const answerWithinMs = 5000

/** A drive whose daemon is gone, or does not answer. */
interface UnreachableDrive {
  readonly mountpoint: string
  readonly state: 'dead' | 'silent' | 'unknown'
  readonly problem: string
  readonly stateDir?: string
  /** Leftovers in its state folder; absent if there are none. */
  readonly left?: LeftFolder['left']
}

type Shown = (MountStatus & { readonly path?: string; readonly place?: Place }) | UnreachableDrive

export interface StatusOptions {
  readonly json?: boolean
  /** Other users' drives too. */
  readonly all?: boolean
  /** Prints the status at each change until Ctrl-C. */
  readonly watch?: boolean
}

export async function runStatus(path: string | undefined, options: StatusOptions): Promise<void> {
  const isJson = options.json === true
  const readText = (): Promise<string> =>
    path === undefined ? textOfAll(isJson, options.all === true) : textOfPath(path, isJson)
  if (options.watch === true) await watch(readText, isJson)
  else if (isJson) await printJsonText(readText)
  else console.log(await readText())
}

/** Prints JSON also if reading fails, for instance because there is no such drive. */
async function printJsonText(readText: () => Promise<string>): Promise<void> {
  const text = await readText().catch((error: unknown) => {
    if (error instanceof Error) console.log(jsonText({ error: error.message }))
    throw error
  })
  console.log(text)
}

async function textOfPath(path: string, isJson: boolean): Promise<string> {
  const place = await findDriveIfAny(path)
  if (place === undefined) return textOfUnmounted(path, isJson)
  const shown = await readStatus(place.found, place.path === '/' ? undefined : place.path)
  if ('problem' in shown) process.exitCode = exitCodes.failure
  return isJson ? jsonText(shown) : describe(shown)
}

/** Text about drives that are not mounted. Leftovers set exit code 1. Throws CommandError if there are none. */
async function textOfUnmounted(name: string, isJson: boolean): Promise<string> {
  const folders = (await findStateFolders()).filter(
    ({ drive }) => drive !== undefined && matchesName(drive, name),
  )
  const left = (await findLeftFolders()).filter(({ stateDir }) =>
    folders.some((folder) => folder.stateDir === stateDir),
  )
  if (left.length > 0) {
    process.exitCode = exitCodes.failure
    if (!isJson) return left.map(describeLeft).join('\n\n')
    return jsonText(left.length === 1 ? asJson(left[0] as LeftFolder) : left.map(asJson))
  }
  const [known] = folders
  if (known?.drive === undefined) throw noDriveError(name)
  throw new CommandError(
    `${known.drive.mountpoint} is not mounted, and nothing of it is left to send; to mount it: ${resumeCommand(known.drive)}`,
  )
}

function matchesName({ project, mountpoint }: DriveFile, name: string): boolean {
  return name === project || isAtOrUnder(isUrl(name) ? name.replace(/\/+$/, '') : resolve(name), mountpoint)
}

async function textOfAll(isJson: boolean, withOthers: boolean): Promise<string> {
  const found = await findMounts()
  const own = found.filter((drive) => isOwn(drive))
  const drives = await Promise.all((withOthers ? found : own).map((drive) => readStatus(drive, undefined)))
  const shownDirs = new Set(drives.map(({ stateDir }) => stateDir))
  const left = (await findLeftFolders()).filter(({ stateDir }) => !shownDirs.has(stateDir))
  if (isJson) return jsonText([...drives, ...left.map(asJson)])
  const texts = [...drives.map(describe), ...left.map(describeLeft)]
  if (texts.length > 0) return texts.join('\n\n')
  return own.length === found.length ? 'no drive is mounted' : 'no drive of yours is mounted'
}

function asJson({ stateDir, drive, left }: LeftFolder): object {
  const { project, baseUrl, mountpoint } = drive ?? {}
  const command = drive === undefined ? undefined : resumeCommand(drive)
  return { mountpoint, state: 'unmounted', project, baseUrl, stateDir, command, ...left }
}

async function readStatus(found: FoundMount, path: string | undefined): Promise<Shown> {
  const { mountpoint, record, isDaemonAlive } = found
  if (!isDaemonAlive) {
    // Without a mount record the daemon may be alive: another user's, or in another container.
    const state = record === undefined ? 'unknown' : 'dead'
    return { mountpoint, state, problem: describeDead(found), ...(await leftoversOf(found)) }
  }
  try {
    const input = path === undefined ? {} : { path }
    const { mount, unsent, place } = await askDrive(found, 'status', input, {
      signal: AbortSignal.timeout(answerWithinMs),
    })
    const shown = { ...mount, state: stateOf(found, mount) }
    if (path === undefined) return shown
    return { ...shown, path, unsent, ...(place === undefined ? {} : { place }) }
  } catch (error) {
    const problem = `${describeSilent(mountpoint, record?.pid)}: ${(error as Error).message}`
    return { mountpoint, state: 'silent', problem, ...(await leftoversOf(found)) }
  }
}

/** Returns `detached` after `umount -l`: the mount table has no mount, but programs use it, and the daemon does not know. */
function stateOf({ mount }: FoundMount, { state, driver }: MountStatus): MountStatus['state'] {
  return state === 'live' && driver !== 'webdav' && mount === undefined ? 'detached' : state
}

async function leftoversOf({
  record,
  isOfOtherHome,
}: FoundMount): Promise<Pick<UnreachableDrive, 'stateDir' | 'left'>> {
  if (record === undefined || isOfOtherHome) return {}
  const { stateDir } = record
  const left = await readLeftBehind(stateDir)
  return isEmpty(left) ? { stateDir } : { stateDir, left }
}

function describe(shown: Shown): string {
  if ('problem' in shown) return describeUnreachable(shown)
  return shown.path === undefined ? describeDrive(shown) : describeDocument(shown.path, shown)
}

function describeUnreachable({ mountpoint, state, problem, left }: UnreachableDrive): string {
  const lines = left === undefined ? [] : [leftSummary(left), ...leftLines(left).map((line) => `  ${line}`)]
  return [`${mountpoint}  ${state}`, ...[problem, ...lines].map((line) => `  ${line}`)].join('\n')
}

/** Returns the line about the path, then its unsent changes below. */
function describeDocument(
  path: string,
  { place, unsent }: { readonly place?: Place; readonly unsent: readonly Unsent[] },
): string {
  // Daemons of earlier versions send no `place`.
  if (place === undefined)
    return unsent.length === 0 ? `${path}  nothing unsent` : unsent.map(unsentLine).join('\n')
  const below = unsent.filter((change) => change.path !== path)
  const sum = below.length === 0 ? [] : [`below it ${unsentSum(below)}`]
  return [
    placeLine(path, place),
    ...[...sum, ...firstTen(below.map(unsentLine))].map((line) => `  ${line}`),
  ].join('\n')
}
