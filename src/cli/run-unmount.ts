// Implements `docmount unmount`: the daemon sends and unmounts; if it is dead, this command removes its mount.

import { dirname } from 'node:path'
import type { UnmountProgress } from '../daemon/control-protocol.ts'
import { CommandError } from './command-error.ts'
import { findDrivesOfHome, findMountOf, type FoundMount } from '../daemon/find-mount.ts'
import { isDisconnected } from '../fuse/mountpoint.ts'
import { type LeftBehind, readLeftBehind } from '../daemon/left-behind.ts'
import { removeMountRecord } from '../daemon/mount-record.ts'
import type { LocalFile, Unsent } from '../fs/status.ts'
import { userUnitOf } from '../daemon/user-units.ts'
import { unmount } from '../fuse/unmount.ts'
import { exitCodes } from './exit-codes.ts'
import { askDrive, findDriveOfProject, interruptSignal, noDriveError } from './find-drive.ts'
import { reportError } from './report-error.ts'
import { shellWord } from './shell-word.ts'
import { untilLoginText } from './systemd-unit.ts'
import { startUnsentProgress } from './unsent-progress.ts'
import { describeLeftUnsent, describeLocalOnly } from './unsent-text.ts'

const interruptedMessage =
  'interrupted: the drive stays mounted and continues to send, unless it was unmounted already (docmount status shows it)'
/** How long the daemon waits for programs that use the drive; then the error names them. */
const busyMs = 10_000

export interface UnmountOptions {
  readonly force: boolean
  readonly timeoutMs: number
  readonly quiet?: boolean | undefined
}

/** Outcome of one unmount. */
export interface Unmounted {
  readonly mountpoint: string
  readonly isUnmounted: boolean
  readonly isDetached: boolean
  readonly unsent: readonly Unsent[]
  readonly localOnly: readonly LocalFile[]
  /** Reason why the drive is still mounted. */
  readonly error?: string
}

/** `name` is a mountpoint or a project. Sets the exit code to failure if anything is unsent. */
export async function runUnmount(name: string, options: UnmountOptions): Promise<Unmounted> {
  return unmountDrive(await driveNamed(name), options)
}

/** Unmounts all drives of this user, one after another; if one fails, continues with the others. */
export async function runUnmountAll(options: UnmountOptions): Promise<readonly Unmounted[]> {
  const own = await findDrivesOfHome()
  if (own.length === 0) console.error('docmount: no drive is mounted')
  const all: Unmounted[] = []
  for (const found of own) {
    try {
      all.push(await unmountDrive(found, options))
    } catch (error) {
      process.exitCode = reportError(error)
      const { mountpoint } = found
      const why = error instanceof Error ? error.message : String(error)
      all.push({ mountpoint, isUnmounted: false, isDetached: false, unsent: [], localOnly: [], error: why })
    }
  }
  return all
}

/** A name without a slash may be a relative path that lies on a drive; then a project of that name comes first. */
async function driveNamed(name: string): Promise<FoundMount> {
  const place = await findMountOf(name)
  if (place?.path === '/') return place.found
  const drive = name.includes('/') ? undefined : await findDriveOfProject(name)
  if (drive !== undefined) return drive
  if (place === undefined) throw noDriveError(name)
  const { mountpoint } = place.found
  throw new CommandError(
    `${name} lies on the drive ${mountpoint}; run: docmount unmount ${shellWord(mountpoint)}`,
  )
}

function unmountDrive(found: FoundMount, options: UnmountOptions): Promise<Unmounted> {
  return found.isDaemonAlive ? unmountLive(found, options) : removeDeadMount(found)
}

async function unmountLive(found: FoundMount, options: UnmountOptions): Promise<Unmounted> {
  // A working folder on the drive would keep the drive busy.
  process.chdir('/')
  // Read before the daemon ends: the unit is found by its pid.
  const unit = found.record === undefined ? undefined : await userUnitOf(found.record.pid)
  const line = progressLine(options.quiet === true)
  // JSON has no Infinity (`--timeout forever`), and a timer takes no longer delay.
  const timeoutMs = Math.min(options.timeoutMs, 2 ** 31 - 1)
  const answer = await askDrive(
    found,
    'unmount',
    { force: options.force, timeoutMs, busyMs },
    { onProgress: line.show, signal: interruptSignal(interruptedMessage) },
  ).finally(line.clear)
  if (answer.isDetached) {
    console.error(
      `docmount: ${found.mountpoint} is detached; programs that still use it are served until they end`,
    )
  }
  if (answer.unsent.length > 0) {
    console.error(`docmount: ${describeLeftUnsent(answer.unsent, found.record?.stateDir)}`)
    process.exitCode = exitCodes.failure
  }
  if (unit?.isEnabled === true && options.quiet !== true && found.record !== undefined)
    console.error(`docmount: ${untilLoginText(found.record.project)}`)
  const { mountpoint, record } = found
  const { isDetached, unsent } = answer
  if (isDetached || record === undefined)
    return { mountpoint, isUnmounted: false, isDetached, unsent, localOnly: [] }
  // The daemon has closed its state folder by now.
  const { localOnly } = await readLeftBehind(record.stateDir)
  printLocalOnly({ localOnly })
  return { mountpoint, isUnmounted: true, isDetached, unsent, localOnly }
}

/** Prints which temporary files stay on this machine. Programs may have left them there, so the exit code does not change. */
function printLocalOnly({ localOnly }: Pick<LeftBehind, 'localOnly'>): void {
  if (localOnly.length > 0) console.error(`docmount: ${describeLocalOnly(localOnly)}`)
}

function describeUnknown({ mountpoint, mount }: FoundMount): string {
  return mount?.owner === process.getuid?.()
    ? `${mountpoint} is served by a docmount that cannot be found from here; run this where it was started (another container?)`
    : `${mountpoint} is served by another user's docmount (user ${mount?.owner}); only that user can unmount it`
}

/** Removes the mount and record of a daemon that is gone, and reports what it left unsent. Throws CommandError if it is alive. */
async function removeDeadMount(found: FoundMount): Promise<Unmounted> {
  const { mountpoint, mount, record } = found
  if (mount !== undefined) {
    if (!(await isDisconnected(mountpoint))) {
      throw new CommandError(describeUnknown(found))
    }
    await unmount(mountpoint, { lazy: true })
  }
  console.error(`docmount: the daemon of ${mountpoint} was gone; its mount was removed`)
  const gone = { mountpoint, isUnmounted: true, isDetached: false }
  if (record === undefined) return { ...gone, unsent: [], localOnly: [] }
  await removeMountRecord(dirname(record.socketPath), record.id)
  const left = await readLeftBehind(record.stateDir)
  if (left.unsent.length > 0) {
    console.error(`docmount: ${describeLeftUnsent(left.unsent, record.stateDir)}`)
    process.exitCode = exitCodes.failure
  }
  printLocalOnly(left)
  return { ...gone, unsent: left.unsent, localOnly: left.localOnly }
}

/** Shows progress, and the programs that keep the drive busy: without a terminal, one line whenever these change. */
function progressLine(isQuiet: boolean): { show: (progress: UnmountProgress) => void; clear: () => void } {
  const line = startUnsentProgress('unmounting', isQuiet)
  let last = ''
  return {
    show(progress) {
      line.update(progress)
      if (progress.busy === undefined) return
      const text = `in use by ${progress.busy}; waiting (--force detaches)`
      if (process.stderr.isTTY) line.blocked(text)
      else if (text !== last && !isQuiet) console.error(text)
      last = text
    },
    clear: () => line.end(),
  }
}
