// What `docmount status` does. Never stats a mount: a wedged one would hang the very command that should tell.

import type { MountStatus } from '../daemon/control-protocol.ts'
import { findMountOf, findMounts, type FoundMount } from '../daemon/find-mount.ts'
import { DaemonError } from '../daemon/daemon-error.ts'
import { findLeftFolders, isNothing, type LeftFolder, readLeftBehind } from '../daemon/left-behind.ts'
import type { Unsent } from '../fs/status.ts'
import { exitCodes } from './exit-codes.ts'
import { askDrive, describeDead } from './find-drive.ts'
import { leftLines, leftSummary, resumeCommand } from './left-text.ts'
import { printJson } from './output.ts'
import { describeDrive, describeLeft } from './status-text.ts'
import { unsentLine } from './unsent-text.ts'

const patienceMs = 5000

/** A drive that has no daemon to ask, or one that does not answer. */
interface Troubled {
  readonly mountpoint: string
  readonly state: 'dead' | 'silent' | 'unknown'
  readonly problem: string
  readonly stateDir?: string
  /** What its state folder holds; absent where nothing is left. */
  readonly left?: LeftFolder['left']
}

type Shown = (MountStatus & { readonly path?: string }) | Troubled

export async function runStatus(path: string | undefined, isJson: boolean): Promise<void> {
  if (path !== undefined) {
    const place = await findMountOf(path)
    if (place === undefined)
      throw new DaemonError(`${path} is on no drive of docmount; docmount status lists them`)
    const shown = await look(place.found, place.path === '/' ? undefined : place.path)
    if ('problem' in shown) process.exitCode = exitCodes.failure
    if (isJson) printJson(shown)
    else console.log(describe(shown))
    return
  }
  const drives = await Promise.all((await findMounts()).map((found) => look(found, undefined)))
  const told = new Set(drives.map(({ stateDir }) => stateDir))
  const left = (await findLeftFolders()).filter(({ stateDir }) => !told.has(stateDir))
  if (isJson) printJson([...drives, ...left.map(asJson)])
  else {
    const texts = [...drives.map(describe), ...left.map(describeLeft)]
    console.log(texts.length === 0 ? 'no drive is mounted' : texts.join('\n\n'))
  }
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
    const { mount, unsent } = await askDrive(found, 'status', input, {
      signal: AbortSignal.timeout(patienceMs),
    })
    return path === undefined ? mount : { ...mount, path, unsent }
  } catch (error) {
    const problem = `the daemon of ${mountpoint} (process ${record?.pid}) does not answer: ${(error as Error).message}`
    return { mountpoint, state: 'silent', problem, ...(await whatIsLeft(found)) }
  }
}

async function whatIsLeft({ record }: FoundMount): Promise<Pick<Troubled, 'stateDir' | 'left'>> {
  if (record === undefined) return {}
  const { stateDir } = record
  const left = await readLeftBehind(stateDir)
  return isNothing(left) ? { stateDir } : { stateDir, left }
}

function describe(shown: Shown): string {
  if ('problem' in shown) return describeTroubled(shown)
  return shown.path === undefined ? describeDrive(shown) : describeDocument(shown.path, shown.unsent)
}

function describeTroubled({ mountpoint, state, problem, left }: Troubled): string {
  const lines = left === undefined ? [] : [leftSummary(left), ...leftLines(left).map((line) => `  ${line}`)]
  return [`${mountpoint}  ${state}`, ...[problem, ...lines].map((line) => `  ${line}`)].join('\n')
}

function describeDocument(path: string, unsent: readonly Unsent[]): string {
  return unsent.length === 0 ? `${path}  nothing unsent` : unsent.map(unsentLine).join('\n')
}
