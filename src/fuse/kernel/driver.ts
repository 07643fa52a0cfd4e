// The kernel driver: the FUSE protocol on /dev/fuse, with no native code for root. Linux only.
// Once mounted, nothing in this process may touch the mountpoint: it would wait for an answer of its own.

import type { Operations } from '../../fs/operations.ts'
import { MountError, type CloseReason, type Driver, type Mounted, type MountOptions } from '../driver.ts'
import { findMountOfDescriptor, findOurMount, isOpenToFileServers, type MountLine } from '../mountinfo.ts'
import { passedDescriptor, prepareMountpoint } from '../mountpoint.ts'
import { unmount } from '../unmount.ts'
import { widenReadAhead } from './kernel-read-ahead.ts'
import { DeviceChannel } from './device-channel.ts'
import { isRoot, mountKernel } from './mounting.ts'
import { attributeOperations } from './operations/attributes.ts'
import { operationTable, fileServerTable } from './operations/table.ts'
import { Session } from './session.ts'
import { endLateWatchdogs, startWatchdog } from './watchdog.ts'

export const kernelDriver: Driver = {
  name: 'kernel',
  capabilities: {
    push: true,
    callerIds: true,
    exclusiveCreate: true,
    exactTimes: true,
    renameFlags: true,
    interrupt: true,
    byteNames: true,
    attributes: true,
  },
  mount,
}

/** Longest wait for INIT, which the kernel sends as soon as the drive is mounted. */
const initLimitMs = 10_000

async function mount(operations: Operations, options: MountOptions): Promise<Mounted> {
  if (process.platform !== 'linux') {
    throw new MountError('ENOTSUP', 'the kernel driver speaks to Linux only: use --driver fuse-native')
  }
  const fd = passedDescriptor(options.mountpoint)
  return fd === undefined ? mountHere(operations, options) : servePassed(fd, operations, options)
}

async function mountHere(operations: Operations, options: MountOptions): Promise<Mounted> {
  const { log } = options
  const mountpoint = await prepareMountpoint(options.mountpoint)
  await endLateWatchdogs(mountpoint)
  const fd = await mountKernel(mountpoint, options)
  const line = await findOurMount(mountpoint)
  const watchdog = startWatchdog(
    { mountpoint, isRoot: isRoot(), connection: line?.device.split(':')[1], fuseFd: fd },
    log,
  )
  const session = sessionOf(fd, operations, options, line)
  try {
    await untilReady(session)
  } catch (error) {
    await detach()
    session.close()
    watchdog.dismiss()
    throw error
  }

  // Only after INIT: its answer resets the kernel's read-ahead.
  if (line !== undefined) await widenReadAhead(line.device, log)

  /** Unmounts this mount if it is still there, and never another one that came after it. */
  async function detach(): Promise<CloseReason> {
    if (!(await isStillThere(line))) return 'unmounted'
    await unmount(mountpoint, { lazy: true }).catch((error: unknown) => {
      log.warn({ err: error, mountpoint }, 'a dead mount is left behind')
    })
    return 'failed'
  }

  const closed = session.closed.then(async () => {
    // A mount that is still there was aborted: every program would get ENOTCONN from it.
    const reason = await detach()
    watchdog.dismiss()
    return reason
  })
  return { notifier: session.notifier, line, closed, unmount: (options) => unmount(mountpoint, options) }
}

/** Serves a mount that another program made: it passed us the descriptor, and may keep the right to unmount. */
async function servePassed(fd: number, operations: Operations, options: MountOptions): Promise<Mounted> {
  const line = await findMountOfDescriptor(fd)
  const session = sessionOf(fd, operations, options, line)
  try {
    await untilReady(session)
  } catch (error) {
    session.close()
    throw error
  }
  return {
    notifier: session.notifier,
    line,
    closed: session.closed.then(async () => ((await isStillThere(line)) ? 'failed' : 'unmounted')),
    unmount: (options) => unmountPassed(line?.mountpoint, options),
  }
}

/** Starts the session of an open /dev/fuse. `line`: its mount in the kernel's list. */
function sessionOf(
  fd: number,
  operations: Operations,
  { log, attributes }: MountOptions,
  line: MountLine | undefined,
): Session {
  const table = line === undefined || isOpenToFileServers(line) ? fileServerTable : operationTable
  const more = attributes === undefined ? [] : attributeOperations(attributes)
  return new Session(
    (receive) => new DeviceChannel(fd, receive, log),
    operations,
    log,
    new Map([...table, ...more]),
  )
}

async function isStillThere(line: MountLine | undefined): Promise<boolean> {
  return line !== undefined && (await findOurMount(line.mountpoint))?.id === line.id
}

async function unmountPassed(mountpoint: string | undefined, options: { lazy: boolean }): Promise<void> {
  if (mountpoint === undefined) {
    throw new MountError('ENOTSUP', 'this drive was mounted by another program: unmount it with umount')
  }
  await unmount(mountpoint, options).catch((cause: unknown) => {
    if (cause instanceof MountError && cause.code === 'EBUSY') throw cause
    // Root may lack the right, too: mount.fuse3 drops its capabilities for drop_privileges.
    const reason = `${mountpoint} was mounted by somebody else, and this process may not unmount it`
    throw new MountError('EPERM', `${reason}: as root run umount ${mountpoint}`, { cause })
  })
}

/** Resolves when INIT was answered. Throws a MountError if the kernel is too old, or sends none in time. */
async function untilReady(session: Session): Promise<void> {
  const limit = AbortSignal.timeout(initLimitMs)
  const silence = new Promise<undefined>((resolve) => {
    limit.addEventListener('abort', () => resolve(undefined), { once: true })
  })
  const isAgreed = await Promise.race([session.ready, silence])
  if (isAgreed === undefined) {
    throw new MountError('ETIMEDOUT', `the kernel did not begin within ${initLimitMs / 1000} s; try again`)
  }
  if (!isAgreed) {
    throw new MountError('EPROTO', 'this kernel is too old for the kernel driver: use Linux 5.4 or newer')
  }
}
