// Work of `docmount status`. Never stats a mount: a wedged one would hang the very command that should tell.

import type { MountStatus } from '../daemon/control-protocol.ts'
import { resolve } from 'node:path'
import { findStateFolders, type DriveFile } from '../daemon/drive-file.ts'
import { findMounts, type FoundMount, isOwn, isUrl } from '../daemon/find-mount.ts'
import { isAtOrUnder } from '../daemon/path-inside.ts'
import { DaemonError } from '../daemon/daemon-error.ts'
import { findLeftFolders, isNothing, type LeftFolder, readLeftBehind } from '../daemon/left-behind.ts'
import type { Place, Unsent } from '../fs/status.ts'
import { exitCodes } from './exit-codes.ts'
import { firstTen } from './first-ten.ts'
import { askDrive, describeDead, describeSilent, findNamed, onNoDrive } from './find-drive.ts'
import { leftLines, leftSummary, resumeCommand } from './left-text.ts'
import { jsonText } from './output.ts'
import { placeLine } from './place-text.ts'
import { describeDrive, describeLeft } from './status-text.ts'
import { unsentLine, unsentSum } from './unsent-text.ts'
import { watch } from './watch.ts'

const answerWithinMs = 5000

/** A drive that has no daemon to ask, or one that does not answer. */
interface Troubled {
  readonly mountpoint: string
  readonly state: 'dead' | 'silent' | 'unknown'
  readonly problem: string
  readonly stateDir?: string
  /** Leftovers in its state folder; absent where there are none. */
  readonly left?: LeftFolder['left']
}

type Shown = (MountStatus & { readonly path?: string; readonly place?: Place }) | Troubled

export interface StatusOptions {
  readonly json?: boolean
  /** Other users' drives too. */
  readonly all?: boolean
  /** Goes on telling until Ctrl-C. */
  readonly watch?: boolean
}

export async function runStatus(path: string | undefined, options: StatusOptions): Promise<void> {
  const isJson = options.json === true
  const tell = (): Promise<string> =>
    path === undefined ? tellAll(isJson, options.all === true) : tellOne(path, isJson)
  if (options.watch === true) await watch(tell, isJson)
  else if (isJson) await tellJson(tell)
  else console.log(await tell())
}

/** A script gets JSON also where there is no such drive. */
async function tellJson(tell: () => Promise<string>): Promise<void> {
  const text = await tell().catch((error: unknown) => {
    if (error instanceof Error) console.log(jsonText({ error: error.message }))
    throw error
  })
  console.log(text)
}

async function tellOne(path: string, isJson: boolean): Promise<string> {
  const place = await findNamed(path)
  if (place === undefined) return tellUnmounted(path, isJson)
  const shown = await look(place.found, place.path === '/' ? undefined : place.path)
  if ('problem' in shown) process.exitCode = exitCodes.failure
  return isJson ? jsonText(shown) : describe(shown)
}

/** A drive that is not mounted and has something left is a trouble, as one is whose daemon is gone. */
async function tellUnmounted(name: string, isJson: boolean): Promise<string> {
  const folders = (await findStateFolders()).filter(
    ({ drive }) => drive !== undefined && isMeant(drive, name),
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
  if (known?.drive === undefined) throw onNoDrive(name)
  throw new DaemonError(
    `${known.drive.mountpoint} is not mounted, and nothing of it is left to send; to mount it: ${resumeCommand(known.drive)}`,
  )
}

function isMeant({ project, mountpoint }: DriveFile, name: string): boolean {
  return name === project || isAtOrUnder(isUrl(name) ? name.replace(/\/+$/, '') : resolve(name), mountpoint)
}

async function tellAll(isJson: boolean, withOthers: boolean): Promise<string> {
  const found = await findMounts()
  const own = found.filter((drive) => isOwn(drive))
  const drives = await Promise.all((withOthers ? found : own).map((drive) => look(drive, undefined)))
  const told = new Set(drives.map(({ stateDir }) => stateDir))
  const left = (await findLeftFolders()).filter(({ stateDir }) => !told.has(stateDir))
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

async function look(found: FoundMount, path: string | undefined): Promise<Shown> {
  const { mountpoint, record, isDaemonAlive } = found
  if (!isDaemonAlive) {
    // Without a record it may well be alive, as somebody else's.
    const state = record === undefined ? 'unknown' : 'dead'
    return { mountpoint, state, problem: describeDead(found), ...(await whatIsLeft(found)) }
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
    return { mountpoint, state: 'silent', problem, ...(await whatIsLeft(found)) }
  }
}

/** A mount that somebody else has taken out of the folder tree lives on for the programs that use it, and its daemon is not told. */
function stateOf({ mount }: FoundMount, { state, driver }: MountStatus): MountStatus['state'] {
  return state === 'live' && driver !== 'webdav' && mount === undefined ? 'detached' : state
}

async function whatIsLeft({
  record,
  isOfOtherHome,
}: FoundMount): Promise<Pick<Troubled, 'stateDir' | 'left'>> {
  if (record === undefined || isOfOtherHome) return {}
  const { stateDir } = record
  const left = await readLeftBehind(stateDir)
  return isNothing(left) ? { stateDir } : { stateDir, left }
}

function describe(shown: Shown): string {
  if ('problem' in shown) return describeTroubled(shown)
  return shown.path === undefined ? describeDrive(shown) : describeDocument(shown.path, shown)
}

function describeTroubled({ mountpoint, state, problem, left }: Troubled): string {
  const lines = left === undefined ? [] : [leftSummary(left), ...leftLines(left).map((line) => `  ${line}`)]
  return [`${mountpoint}  ${state}`, ...[problem, ...lines].map((line) => `  ${line}`)].join('\n')
}

/** The path itself, then what is unsent below it. */
function describeDocument(
  path: string,
  { place, unsent }: { readonly place?: Place; readonly unsent: readonly Unsent[] },
): string {
  // A daemon of an earlier docmount tells no place.
  if (place === undefined)
    return unsent.length === 0 ? `${path}  nothing unsent` : unsent.map(unsentLine).join('\n')
  const below = unsent.filter((change) => change.path !== path)
  const sum = below.length === 0 ? [] : [`below it ${unsentSum(below)}`]
  return [
    placeLine(path, place),
    ...[...sum, ...firstTen(below.map(unsentLine))].map((line) => `  ${line}`),
  ].join('\n')
}
