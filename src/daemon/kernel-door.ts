// The kernel door of a session: mountpoint, driver, mount.

import { rmdir } from 'node:fs/promises'
import type { Log } from '../log.ts'
import { type DriverName, MountError } from '../fuse/driver.ts'
import { DaemonError } from './daemon-error.ts'
import { chooseDriver } from './driver-facts.ts'
import { LiveFolders } from './live-folders/live-folders.ts'
import { loadDriver } from './load-driver.ts'
import type { MountPlan } from './mount-plan.ts'
import { openMountpoint, reserveMountpoint } from './mountpoint.ts'
import type { SessionDoor, UndoStart } from './session-door.ts'
import { refuseSecond, evictStaleDaemon } from './evict-stale-daemon.ts'

export interface KernelDoorOptions {
  readonly plan: MountPlan
  readonly driver: DriverName | 'auto'
  /** Creates a missing mountpoint. */
  readonly makeMountpoint: boolean
  readonly allowOther: boolean
  /** Shows the states of documents as extended attributes (`user.docmount.*`). */
  readonly hasAttributes: boolean
  readonly readOnly: boolean
  /** Lets programs that watch a folder hear of other clients' changes. */
  readonly liveFolders: boolean
  readonly log: Log
}

/** Adds to `undo` the steps that a failed start must take back. Throws DaemonError or MountError if the drive cannot be mounted. */
export async function prepareKernelDoor(options: KernelDoorOptions, undo: UndoStart[]): Promise<SessionDoor> {
  const { plan, readOnly, allowOther, log } = options
  const { mountpoint, descriptor, runtimeDir } = plan
  const isDescriptorPassed = descriptor !== undefined
  if (process.platform !== 'linux' && options.driver === 'auto') throw noMountHere(plan.project)
  await refuseSecond(plan)
  await evictStaleDaemon(plan)
  const isMade =
    !isDescriptorPassed &&
    (await reserveMountpoint(mountpoint, { makeIfMissing: options.makeMountpoint, runtimeDir }))
  if (isMade) undo.push(async (error) => isTaken(error) || rmdir(mountpoint))
  const closeMountpoint = isDescriptorPassed ? async () => {} : await openMountpoint(mountpoint, isMade)
  undo.push(async (error) => isTaken(error) || closeMountpoint())
  const choice = await chooseDriver(options.driver, { isDescriptorPassed })
  const driver = await loadDriver(choice.driver)
  if (options.hasAttributes && !driver.capabilities.attributes)
    throw new DaemonError(
      `the driver ${choice.driver} has no attributes: leave --attributes out, or use --driver kernel`,
    )
  return {
    name: choice.driver,
    why: choice.why,
    async open(fileSystem) {
      // Live folders need calls that change files, which the kernel refuses in a read-only mount.
      const live = options.liveFolders && !readOnly ? new LiveFolders(fileSystem, log) : undefined
      const mounted = await driver.mount(live?.operations ?? fileSystem, {
        mountpoint: isDescriptorPassed ? `/dev/fd/${descriptor}` : mountpoint,
        source: plan.source,
        readOnly,
        allowOther,
        attributes: options.hasAttributes ? fileSystem : undefined,
        log,
      })
      // By a descriptor of the covered folder, since the path leads to the drive now.
      await closeMountpoint()
      return { mounted: live?.attend(mounted) ?? mounted }
    },
  }
}

/** True if another docmount, started at the same time, is about to mount there: it needs the folder as it is. */
function isTaken(error: unknown): boolean {
  return error instanceof DaemonError && (error.cause as { code?: unknown } | undefined)?.code === 'EBUSY'
}

function noMountHere(project: string): MountError {
  const advice = `run docmount webdav ${project} and connect to http://127.0.0.1:4918/ (docs/desktops.md)`
  return new MountError('ENOTSUP', `drives are mounted on Linux only; here, ${advice}`)
}
