// Which drive and which document a command means.

import { setTimeout as sleep } from 'node:timers/promises'
import { ask, type AskOptions } from '../daemon/control-client.ts'
import type { ControlCommand, ControlCommands } from '../daemon/control-protocol.ts'
import { DaemonError } from '../daemon/daemon-error.ts'
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

/** The drive a path lies on, or a project's; without a name the only drive of this user. Throws a DaemonError that says what to give. */
export async function findDrive(name: string | undefined): Promise<PathOnMount> {
  if (name !== undefined) {
    const place = await findNamed(name)
    if (place === undefined) throw onNoDrive(name)
    return place
  }
  const own = await findDrivesOfHome()
  const [only, ...others] = own
  if (only === undefined) throw new DaemonError('no drive is mounted')
  if (others.length > 0) {
    const names = own.map(({ mountpoint }) => mountpoint).join(', ')
    throw new DaemonError(`there are several drives; name one: ${names}`)
  }
  return { found: only, path: '/' }
}

/** The drive a path lies on, or that a project is mounted as. Throws a DaemonError where it is mounted several times. */
export async function findNamed(name: string): Promise<PathOnMount | undefined> {
  const place = await findMountOf(name)
  if (place !== undefined) return place
  const found = await findDriveOf(name)
  return found === undefined ? undefined : { found, path: '/' }
}

/** For a name that means no drive. */
export function onNoDrive(name: string): DaemonError {
  const what = name.includes('/') ? 'on no drive of docmount' : 'neither on a drive nor the project of one'
  return new DaemonError(`${name} is ${what}; docmount status lists them`)
}

/** This user's drive of a project; undefined where there is none. Throws a DaemonError where there are several. */
export async function findDriveOf(project: string): Promise<FoundMount | undefined> {
  const [only, ...others] = (await findDrivesOfHome()).filter(({ record }) => record.project === project)
  if (only === undefined || others.length === 0) return only
  const names = [only, ...others].map(({ mountpoint }) => mountpoint).join(', ')
  throw new DaemonError(`${project} is mounted several times; name one: ${names}`)
}

/** A daemon that lives tells its status at once, whatever else it is asked for. */
const silentAfterMs = 5_000

/** Asks the drive's daemon. Throws a DaemonError that says how the drive fares when it has none; says where it is silent. */
export async function askDrive<C extends ControlCommand>(
  found: FoundMount,
  command: C,
  input: ControlCommands[C]['input'],
  options: AskOptions<C> = {},
): Promise<ControlCommands[C]['answer']> {
  if (found.record === undefined || !found.isDaemonAlive) throw new DaemonError(describeDead(found))
  const { record } = found
  const over = new AbortController()
  if (command !== 'status') void tellWhereSilent(record, over.signal)
  return ask(record.socketPath, command, input, options).finally(() => over.abort())
}

/** Prints how to go on where the daemon stands still. */
async function tellWhereSilent(
  { socketPath, mountpoint, pid }: MountRecord,
  over: AbortSignal,
): Promise<void> {
  const enough = new AbortController()
  const stop = (): void => enough.abort()
  over.addEventListener('abort', stop)
  try {
    await sleep(silentAfterMs, undefined, { signal: over })
    setTimeout(stop, silentAfterMs).unref()
    await ask(socketPath, 'status', {}, { signal: enough.signal })
  } catch {
    if (!over.aborted) console.error(`docmount: ${describeSilent(mountpoint, pid)}`)
  }
}

/** A daemon that lives and does not answer. */
export function describeSilent(mountpoint: string, pid: number | undefined): string {
  return (
    `the daemon of ${mountpoint} (process ${pid}) does not answer; if it stays silent: kill -9 ${pid}, ` +
    `then docmount unmount ${shellWord(mountpoint)} (what is not sent is kept, and sent after the next mount)`
  )
}

/** A drive without a daemon, and the way on. */
export function describeDead(found: FoundMount): string {
  const { mountpoint, record, mount } = found
  if (record === undefined) {
    return isOwn(found)
      ? `the daemon of ${mountpoint} is not found here; if it runs in another container, ask it there. If it is gone, ` +
          `docmount unmount ${shellWord(mountpoint)} removes the dead mount (and leaves a live one)`
      : `${mountpoint} is served by another user's docmount (user ${mount?.owner}), who alone can ask it`
  }
  const wayOn = resumeCommand(record)
  return mount === undefined
    ? `the daemon of ${mountpoint} ended without unmounting; its state is kept, resume with: ${wayOn}`
    : `the daemon of ${mountpoint} (process ${record.pid}) is gone; its state is kept, resume with: ${wayOn}`
}

/** Ends with the first Ctrl-C: the question is taken back. */
export function interruptSignal(message = 'interrupted'): AbortSignal {
  const controller = new AbortController()
  process.once('SIGINT', () => controller.abort(new DaemonError(message)))
  return controller.signal
}
