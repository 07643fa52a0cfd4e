// Unmounting a drive that programs may still use: repeated until they have left it, or `isForced` detaches it.

import { setTimeout as sleep } from 'node:timers/promises'
import type { Mounted } from '../fuse/driver.ts'
import { DaemonError } from './daemon-error.ts'
import { describeMountUsers, findMountUsers, findNestedMounts } from './mount-users.ts'

export interface LeaveOptions {
  /** True if a busy mount is to be detached. Called after each EBUSY. */
  readonly isForced: () => boolean
  /** Deadline for its users, by `performance.now()`. */
  readonly untilMs: () => number
  readonly onBusy: (users: string) => void
  /** Cancels the unmount. */
  readonly cancel: AbortSignal
  /** Ends the pause between two attempts. */
  readonly stopWaiting: AbortSignal
}

/** Pause between two attempts. */
const busyRetryMs = 1000

/** Resolves with true if it was detached while in use. Throws a DaemonError if it stays busy, or was cancelled. */
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
      await endedOrAborted(sleep(busyRetryMs), [options.cancel, options.stopWaiting])
      if (options.cancel.aborted) throw cancelError()
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

export function cancelError(): DaemonError {
  return new DaemonError('unmounting was cancelled; the drive stays')
}

/** Resolves when the work ends or a signal is aborted, whichever comes first. Rejects if the work does. */
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
