// The driver on libfuse 2, through the npm package `fuse-native`. Its defects and the workarounds are in native-deps.md. Not
// the default on Linux: that is ../kernel/.

import { MountError, type Driver, type Mounted, type MountOptions } from '../driver.ts'
import type { Operations } from '../../fs/operations.ts'
import type { Log } from '../../log.ts'
import { nativeFuse, type NativeFuse } from './binding.ts'
import { nativeCallbacks, fileServerCallbacks } from './callbacks.ts'
import { mountFailure } from './mount-failure.ts'
import { findOurMount, isOpenToFileServers } from '../mountinfo.ts'
import { prepareMountpoint } from '../mountpoint.ts'
import { libfuseOptions } from './options.ts'
import { runProgram } from '../run-program.ts'
import { NativeSession } from './session.ts'
import { unmount } from '../unmount.ts'
import { fuseDescriptors, MountWatch } from './watch.ts'

/** The binding copies the mountpoint into a buffer of 1 KiB, and truncates a longer one. */
const longestMountpointBytes = 1000

export const fuseNativeDriver: Driver = {
  name: 'fuse-native',
  capabilities: {
    push: false,
    callerIds: false,
    exclusiveCreate: true,
    exactTimes: false,
    renameFlags: false,
    interrupt: false,
    byteNames: true,
    attributes: false,
  },
  mount,
}

async function mount(operations: Operations, options: MountOptions): Promise<Mounted> {
  if (process.platform !== 'linux') {
    throw new MountError('ENOTSUP', `docmount mounts on Linux only so far, not on ${process.platform}`)
  }
  const mountpoint = await mountpointOf(options.mountpoint)
  const session = new NativeSession(operations, options.log)
  const isOpen = isOpenToFileServers({ owner: process.getuid?.(), isShared: options.allowOther })
  const callbacks = { ...nativeCallbacks(session), ...(isOpen ? fileServerCallbacks : {}) }
  const fuse = nativeFuse(mountpoint, callbacks, libfuseOptions({ ...options, mountpoint }))

  const mountedBefore = await findOurMount(mountpoint)
  const descriptorsBefore = await fuseDescriptors()
  try {
    await mounted(fuse)
  } catch (error) {
    // When libfuse fails late, it leaves a dead mount.
    const left = await findOurMount(mountpoint)
    if (left !== undefined && left.id !== mountedBefore?.id) await unmount(mountpoint, { lazy: true })
    throw await mountFailure(error, mountpoint, options)
  }
  // From here on nothing in this process may touch the mountpoint.

  const line = await findOurMount(mountpoint)
  if (line === undefined)
    throw new MountError('EIO', `${mountpoint} was unmounted while it was being mounted`)
  const descriptors = await fuseDescriptors()
  const watch = new MountWatch(
    line,
    descriptors.find((fd) => !descriptorsBefore.includes(fd)),
  )
  await watch.start()

  const closed = watch.closed.then(async (reason) => {
    // A dead mount would answer ENOTCONN to every program until it is unmounted.
    if (reason === 'failed') await detach(mountpoint, options.log)
    await session.end()
    await watch.libfuseEnded()
    await release(fuse)
    return reason
  })

  return {
    notifier: session.notifier,
    closed,
    async unmount({ lazy }) {
      await unmount(mountpoint, { lazy }, (program, args, options) =>
        runProgram(program, args, { ...options, reportEndAfter: closed }),
      )
      watch.pollFaster()
    },
  }
}

function mounted(fuse: NativeFuse): Promise<void> {
  return new Promise((resolve, reject) => {
    fuse.mount((error) => (error === null ? resolve() : reject(error)))
  })
}

/** Releases the binding's event loop handle, which would keep the process alive for ever. */
function release(fuse: NativeFuse): Promise<void> {
  return new Promise((resolve) => {
    fuse.unmount(() => resolve())
  })
}

async function detach(mountpoint: string, log: Log): Promise<void> {
  try {
    await unmount(mountpoint, { lazy: true })
  } catch (error) {
    log.warn({ err: error }, 'the dead drive could not be unmounted')
  }
}

/** Resolves with the mountpoint without symbolic links, as the kernel lists it. */
async function mountpointOf(wanted: string): Promise<string> {
  const mountpoint = await prepareMountpoint(wanted)
  if (Buffer.byteLength(mountpoint) > longestMountpointBytes) {
    throw new MountError('ENAMETOOLONG', `the mountpoint is longer than ${longestMountpointBytes} bytes`)
  }
  return mountpoint
}
