// Which drive and which document a command means.

import { ask, type AskOptions } from '../daemon/control-client.ts'
import type { ControlCommand, ControlCommands } from '../daemon/control-protocol.ts'
import { DaemonError } from '../daemon/daemon-error.ts'
import { findMountOf, findMounts, type FoundMount, isOwn, type PathOnMount } from '../daemon/find-mount.ts'
import { resumeCommand } from './left-text.ts'
import { shellWord } from './shell-word.ts'

/** The drive a path lies on; without a path the only drive of this user. Throws a DaemonError that says what to give. */
export async function findDrive(path: string | undefined): Promise<PathOnMount> {
  if (path !== undefined) {
    const place = await findMountOf(path)
    if (place !== undefined) return place
    const found = await findDriveOf(path)
    if (found === undefined)
      throw new DaemonError(`${path} is on no drive of docmount; docmount status lists them`)
    return { found, path: '/' }
  }
  const own = (await findMounts()).filter(({ record }) => record !== undefined)
  const [only, ...others] = own
  if (only === undefined) throw new DaemonError('no drive is mounted')
  if (others.length > 0) {
    const names = own.map(({ mountpoint }) => mountpoint).join(', ')
    throw new DaemonError(`there are several drives; name one: ${names}`)
  }
  return { found: only, path: '/' }
}

/** This user's drive of a project; undefined where there is none. Throws a DaemonError where there are several. */
export async function findDriveOf(project: string): Promise<FoundMount | undefined> {
  const [only, ...others] = (await findMounts()).filter(({ record }) => record?.project === project)
  if (only === undefined || others.length === 0) return only
  const names = [only, ...others].map(({ mountpoint }) => mountpoint).join(', ')
  throw new DaemonError(`${project} is mounted several times; name one: ${names}`)
}

/** Asks the drive's daemon. Throws a DaemonError that says how the drive fares when it has none. */
export async function askDrive<C extends ControlCommand>(
  found: FoundMount,
  command: C,
  input: ControlCommands[C]['input'],
  options: AskOptions<C> = {},
): Promise<ControlCommands[C]['answer']> {
  if (found.record === undefined || !found.isDaemonAlive) throw new DaemonError(describeDead(found))
  return ask(found.record.socketPath, command, input, options)
}

/** A drive without a daemon, and the way on. */
export function describeDead(found: FoundMount): string {
  const { mountpoint, record, mount } = found
  if (record === undefined) {
    return isOwn(found)
      ? `the daemon of ${mountpoint} cannot be found; run: docmount unmount ${shellWord(mountpoint)}`
      : `${mountpoint} is served by another user's docmount (user ${mount?.owner}), who alone can ask it`
  }
  const wayOn = resumeCommand(record)
  return mount === undefined
    ? `the daemon of ${mountpoint} ended without unmounting; its state is kept, resume with: ${wayOn}`
    : `the daemon of ${mountpoint} (process ${record.pid}) is gone; its state is kept, resume with: ${wayOn}`
}

/** Ends with the first Ctrl-C: the question is taken back. */
export function interruptSignal(): AbortSignal {
  const controller = new AbortController()
  process.once('SIGINT', () => controller.abort(new DaemonError('interrupted')))
  return controller.signal
}
