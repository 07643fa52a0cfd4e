// Letting go of a mount that programs may still use: tried again until they have left it, or force detaches it under them.

import { setTimeout as sleep } from 'node:timers/promises'
import type { Mounted } from '../fuse/driver.ts'
import { DaemonError } from './daemon-error.ts'
import { describeMountUsers, findMountUsers, findNestedMounts } from './mount-users.ts'

export interface LeaveOptions {
  /** True where a busy mount is detached; asked each time it was busy. */
  readonly isForced: () => boolean
  /** Until when its users may leave it, by `performance.now()`. */
  readonly untilMs: () => number
  readonly onBusy: (users: string) => void
  /** The wish is taken back. */
  readonly cancel: AbortSignal
  /** Ends the wait between two tries. */
  readonly hurry: AbortSignal
}

/** How often a busy mount is tried again. */
const busyRetryMs = 1000

/** True when it had to be detached under its users. Throws DaemonError: it stays busy, or the wish was taken back. */
export async function leaveMount(
  mounted: Mounted,
  mountpoint: string,
  options: LeaveOptions,
): Promise<boolean> {
  for (;;) {
    try {
      await mounted.unmount({ lazy: false })
      return false
    } catch (error) {
      if ((error as { code?: unknown }).code !== 'EBUSY') throw error
      if (options.isForced()) {
        await mounted.unmount({ lazy: true })
        return true
      }
      await reportBusy(mountpoint, error, options)
      await endedOrAborted(sleep(busyRetryMs), [options.cancel, options.hurry])
      if (options.cancel.aborted) throw takenBack()
    }
  }
}

async function reportBusy(
  mountpoint: string,
  cause: unknown,
  { onBusy, untilMs }: LeaveOptions,
): Promise<void> {
  const [nested] = await findNestedMounts(mountpoint)
  if (nested !== undefined) {
    throw new DaemonError(
      `something else is mounted inside ${mountpoint}: unmount ${nested} first, or add --force`,
      { cause },
    )
  }
  const users = describeMountUsers(await findMountUsers(mountpoint), mountpoint)
  onBusy(users)
  if (performance.now() < untilMs()) return
  throw new DaemonError(`${mountpoint} is in use by ${users}; close it there, or add --force`, { cause })
}

export function takenBack(): DaemonError {
  return new DaemonError('unmounting was cancelled; the drive stays')
}

/** Waits for the work or the first signal, whichever comes first. A rejection of the work is passed on. */
export async function endedOrAborted(work: Promise<unknown>, signals: readonly AbortSignal[]): Promise<void> {
  const done = new AbortController()
  const stopped = signals.map(
    (signal) =>
      new Promise<void>((stop) => {
        if (signal.aborted) stop()
        signal.addEventListener('abort', () => stop(), { once: true, signal: done.signal })
      }),
  )
  try {
    await Promise.race([work, ...stopped])
  } finally {
    done.abort()
  }
}
