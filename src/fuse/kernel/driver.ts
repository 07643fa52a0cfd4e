// The kernel driver: the FUSE protocol spoken on /dev/fuse, with no native code for root. Linux only.
// From the mount on, nothing in this process may touch the mountpoint: the answer would have to come from here.

import type { Operations } from '../../fs/operations.ts'
import { MountError, type CloseReason, type Driver, type Mounted, type MountOptions } from '../driver.ts'
import { findMountOfDescriptor, findOurMount, mayBeServed, type MountLine } from '../mountinfo.ts'
import { passedDescriptor, prepareMountpoint } from '../mountpoint.ts'
import { unmount } from '../unmount.ts'
import { widenReadAhead } from './kernel-read-ahead.ts'
import { DeviceChannel } from './device-channel.ts'
import { isRoot, mountKernel } from './mounting.ts'
import { operationTable, servedTable } from './operations/table.ts'
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
  },
  mount,
}

/** The kernel sends INIT as soon as it is mounted. */
const initLimitMs = 10_000

async function mount(operations: Operations, options: MountOptions): Promise<Mounted> {
  if (process.platform !== 'linux') {
    throw new MountError('ENOTSUP', 'the kernel driver speaks to Linux only: use --driver fuse-native')
  }
  const fd = passedDescriptor(options.mountpoint)
  return fd === undefined ? mountHere(operations, options) : serve(fd, operations, options)
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
  const session = sessionOf(fd, operations, log, line)
  try {
    await becomesReady(session)
  } catch (error) {
    await detach()
    session.close()
    watchdog.dismiss()
    throw error
  }

  // INIT has set the kernel's own limit; this comes after it.
  if (line !== undefined) await widenReadAhead(line.device, log)

  /** Takes away what is left of this mount, and never another one that came after it. */
  async function detach(): Promise<CloseReason> {
    if (!(await isStillThere(line))) return 'unmounted'
    await unmount(mountpoint, { lazy: true }).catch((error: unknown) => {
      log.warn({ err: error, mountpoint }, 'a dead mount is left behind')
    })
    return 'failed'
  }

  const closed = session.closed.then(async () => {
    // Still there: the connection was aborted, and everybody would get ENOTCONN from what is left.
    const reason = await detach()
    watchdog.dismiss()
    return reason
  })
  return { notifier: session.notifier, closed, unmount: (how) => unmount(mountpoint, how) }
}

/** The mount was made by somebody else, who passed us its descriptor and may keep the right to unmount it. */
async function serve(fd: number, operations: Operations, { log }: MountOptions): Promise<Mounted> {
  const line = await findMountOfDescriptor(fd)
  const session = sessionOf(fd, operations, log, line)
  try {
    await becomesReady(session)
  } catch (error) {
    session.close()
    throw error
  }
  return {
    notifier: session.notifier,
    closed: session.closed.then(async () => ((await isStillThere(line)) ? 'failed' : 'unmounted')),
    unmount: (how) => unmountPassed(line?.mountpoint, how),
  }
}

/** The session of an open /dev/fuse whose mount shows as `line`. */
function sessionOf(
  fd: number,
  operations: Operations,
  log: MountOptions['log'],
  line: MountLine | undefined,
): Session {
  const table = line === undefined || mayBeServed(line) ? servedTable : operationTable
  return new Session((receive) => new DeviceChannel(fd, receive, log), operations, log, table)
}

async function isStillThere(line: MountLine | undefined): Promise<boolean> {
  return line !== undefined && (await findOurMount(line.mountpoint))?.id === line.id
}

async function unmountPassed(mountpoint: string | undefined, how: { lazy: boolean }): Promise<void> {
  if (mountpoint === undefined) {
    throw new MountError('ENOTSUP', 'this drive was mounted by another program: unmount it with umount')
  }
  await unmount(mountpoint, how).catch((cause: unknown) => {
    if (cause instanceof MountError && cause.code === 'EBUSY') throw cause
    // Root too: mount.fuse3 takes the capabilities away for drop_privileges.
    const words = `${mountpoint} was mounted by somebody else, and this process may not unmount it`
    throw new MountError('EPERM', `${words}: as root run umount ${mountpoint}`, { cause })
  })
}

async function becomesReady(session: Session): Promise<void> {
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
