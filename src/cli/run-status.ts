// What `docmount status` does. Never stats a mount: a wedged one would hang the very command that should tell.

import type { MountStatus } from '../daemon/control-protocol.ts'
import { findMountOf, findMounts, type FoundMount } from '../daemon/find-mount.ts'
import { DaemonError } from '../daemon/daemon-error.ts'
import type { Unsent } from '../fs/status.ts'
import { formatBytes } from './durations.ts'
import { exitCodes } from './exit-codes.ts'
import { askDrive, describeDead } from './find-drive.ts'
import { printable, printJson } from './output.ts'
import { unsentLine } from './unsent-text.ts'

const patienceMs = 5000

/** A drive whose daemon told its state, or one that has none to ask. */
type Shown =
  | (MountStatus & { readonly path?: string })
  | {
      readonly mountpoint: string
      readonly state: 'dead' | 'silent' | 'unknown'
      readonly problem: string
      readonly stateDir?: string
    }

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
  if (isJson) printJson(drives)
  else console.log(drives.length === 0 ? 'no drive is mounted' : drives.map(describe).join('\n\n'))
}

async function look(found: FoundMount, path: string | undefined): Promise<Shown> {
  const { mountpoint, record, isDaemonAlive } = found
  const stateDir = record === undefined ? {} : { stateDir: record.stateDir }
  if (!isDaemonAlive) {
    // Without a record it may well be alive, as somebody else's.
    const state = record === undefined ? 'unknown' : 'dead'
    return { mountpoint, state, problem: describeDead(found), ...stateDir }
  }
  try {
    const input = path === undefined ? {} : { path }
    const { mount, unsent } = await askDrive(found, 'status', input, {
      signal: AbortSignal.timeout(patienceMs),
    })
    return path === undefined ? mount : { ...mount, path, unsent }
  } catch (error) {
    const problem = `the daemon of ${mountpoint} (process ${record?.pid}) does not answer: ${(error as Error).message}`
    return { mountpoint, state: 'silent', problem, ...stateDir }
  }
}

function describe(shown: Shown): string {
  if ('problem' in shown) return `${shown.mountpoint}  ${shown.state}\n  ${shown.problem}`
  if (shown.path !== undefined) return describeDocument(shown.path, shown.unsent)
  const head = `${shown.mountpoint}  ${shown.project} at ${shown.baseUrl}  ${shown.state}`
  const facts = [
    shown.away === undefined
      ? `service ${shown.service}`
      : `service away since ${new Date(shown.away.since).toISOString()} (${shown.away.reason}): what is shown may be old`,
    ...(shown.readOnly ? ['read-only'] : []),
    shown.unsent.length === 0
      ? 'everything sent'
      : `${shown.unsent.length} not sent (${formatBytes(shown.unsentBytes)})`,
    ...(shown.scratchFiles > 0 ? [`${shown.scratchFiles} temporary files on this machine only`] : []),
    ...(shown.oddEntries.leftOut > 0
      ? [
          `${shown.oddEntries.leftOut} entries that the service lists cannot be shown (the log names the folders)`,
        ]
      : []),
    ...(shown.conflicts > 0 ? [`${shown.conflicts} conflicts, kept beside the documents`] : []),
  ]
  const places = [`process ${shown.pid}`, `driver ${shown.driver}`, `state ${shown.stateDir}`]
  if (shown.logFile !== undefined) places.push(`log ${shown.logFile}`)
  const unsent = shown.unsent.map((change) => `    ${unsentLine(change)}`)
  const local = shown.localOnly.map(
    ({ path, bytes, why }) => `    ${path}  on this machine only (${formatBytes(bytes)}): ${why}`,
  )
  const lines = [...unsent, ...local, ...lostLines(shown)]
  return [head, `  ${facts.join(' · ')}`, ...lines, `  ${places.join(' · ')}`].join('\n')
}

/** What is here and belongs nowhere: nothing is deleted that was not understood. */
function lostLines({ lost, damaged, mountpoint }: MountStatus): string[] {
  const lines = lost.map(
    ({ file, path, name, bytes }) =>
      `    ${printable(path ?? `${name} (never closed)`)}  lost+found  ${formatBytes(bytes)}  ${file}`,
  )
  if (lines.length > 0) lines.push(`    docmount recover --lost ${mountpoint} FOLDER takes it out`)
  return [...lines, ...damaged.map((file) => `    damaged, set aside: ${file}`)]
}

function describeDocument(path: string, unsent: readonly Unsent[]): string {
  return unsent.length === 0 ? `${path}  nothing unsent` : unsent.map(unsentLine).join('\n')
}
