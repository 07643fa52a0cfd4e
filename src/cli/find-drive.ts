// Finds the drive, and the path on it, that an argument of a command names, and asks the drive's daemon.

import { setTimeout as sleep } from 'node:timers/promises'
import { ask, type AskOptions } from '../daemon/control-client.ts'
import type { ControlCommand, ControlCommands } from '../daemon/control-protocol.ts'
import { CommandError } from './command-error.ts'
import {
  findDrivesOfHome,
  findMountOf,
  type FoundMount,
  isOwn,
  type PathOnMount,
} from '../daemon/find-mount.ts'
import type { MountRecord } from '../daemon/mount-record.ts'
import { resumeCommand } from './left-text.ts'
import { shellWord } from './shell-word.ts'

/**
 * Returns the drive and path that `name` means: a path on a drive, or a project; without a name, the user's only drive. Throws
 * CommandError if there is none, or several.
 */
export async function findDrive(name: string | undefined): Promise<PathOnMount> {
  if (name !== undefined) {
    const place = await findDriveIfAny(name)
    if (place === undefined) throw noDriveError(name)
    return place
  }
  const own = await findDrivesOfHome()
  const [only, ...others] = own
  if (only === undefined) throw new CommandError('no drive is mounted')
  if (others.length > 0) {
    const names = own.map(({ mountpoint }) => mountpoint).join(', ')
    throw new CommandError(`there are several drives; name one: ${names}`)
  }
  return { found: only, path: '/' }
}

/** As `findDrive` with a name, but returns undefined if there is no such drive. */
export async function findDriveIfAny(name: string): Promise<PathOnMount | undefined> {
  const place = await findMountOf(name)
  if (place !== undefined) return place
  const found = await findDriveOfProject(name)
  return found === undefined ? undefined : { found, path: '/' }
}

/** Returns the error for a name that means no drive. */
export function noDriveError(name: string): CommandError {
  const what = name.includes('/') ? 'on no drive of docmount' : 'neither on a drive nor the project of one'
  return new CommandError(`${name} is ${what}; docmount status lists them`)
}

/** Returns this user's drive of a project, undefined if there is none. Throws CommandError if there are several. */
export async function findDriveOfProject(project: string): Promise<FoundMount | undefined> {
  const [only, ...others] = (await findDrivesOfHome()).filter(({ record }) => record.project === project)
  if (only === undefined || others.length === 0) return only
  const names = [only, ...others].map(({ mountpoint }) => mountpoint).join(', ')
  throw new CommandError(`${project} is mounted several times; name one: ${names}`)
}

/** A healthy daemon answers `status` at once, even while it works on something else: after this long it is called silent. */
const silentAfterMs = 5_000

/** Sends a command to the drive's daemon. Throws CommandError if the daemon is gone; prints a warning while it does not answer. */
export async function askDrive<C extends ControlCommand>(
  found: FoundMount,
  command: C,
  input: ControlCommands[C]['input'],
  options: AskOptions<C> = {},
): Promise<ControlCommands[C]['answer']> {
  if (found.record === undefined || !found.isDaemonAlive) throw new CommandError(describeDead(found))
  const { record } = found
  const answered = new AbortController()
  if (command !== 'status') void warnIfSilent(record, answered.signal)
  return ask(record.socketPath, command, input, options).finally(() => answered.abort())
}

/** Asks for `status` if there is no answer after a while, and prints advice if that is not answered either. */
async function warnIfSilent(
  { socketPath, mountpoint, pid }: MountRecord,
  answered: AbortSignal,
): Promise<void> {
  const statusTimeout = new AbortController()
  const stop = (): void => statusTimeout.abort()
  answered.addEventListener('abort', stop)
  try {
    await sleep(silentAfterMs, undefined, { signal: answered })
    setTimeout(stop, silentAfterMs).unref()
    await ask(socketPath, 'status', {}, { signal: statusTimeout.signal })
  } catch {
    if (!answered.aborted) console.error(`docmount: ${describeSilent(mountpoint, pid)}`)
  }
}

/** Message about a daemon that runs but does not answer. */
export function describeSilent(mountpoint: string, pid: number | undefined): string {
  return (
    `the daemon of ${mountpoint} (process ${pid}) does not answer; if it stays silent: kill -9 ${pid}, ` +
    `then docmount unmount ${shellWord(mountpoint)} (what is not sent is kept, and sent after the next mount)`
  )
}

/** Message about a drive whose daemon is gone or cannot be reached, with the command that resumes it. */
export function describeDead(found: FoundMount): string {
  const { mountpoint, record, mount } = found
  if (record === undefined) {
    return isOwn(found)
      ? `the daemon of ${mountpoint} is not found here; if it runs in another container, ask it there. If it is gone, ` +
          `docmount unmount ${shellWord(mountpoint)} removes the dead mount (and leaves a live one)`
      : `${mountpoint} is served by another user's docmount (user ${mount?.owner}), who alone can ask it`
  }
  const command = resumeCommand(record)
  return mount === undefined
    ? `the daemon of ${mountpoint} ended without unmounting; its state is kept, resume with: ${command}`
    : `the daemon of ${mountpoint} (process ${record.pid}) is gone; its state is kept, resume with: ${command}`
}

/** Returns a signal that the first Ctrl-C aborts, with a CommandError: the daemon's command is cancelled. */
export function interruptSignal(message = 'interrupted'): AbortSignal {
  const controller = new AbortController()
  process.once('SIGINT', () => controller.abort(new CommandError(message)))
  return controller.signal
}
