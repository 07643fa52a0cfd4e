// A DELETE that checks the path again before it is repeated. The service deletes a folder with everything in it, and an attempt
// whose answer was lost may have been carried out: by then another client may have stored something new there.

import { abortable } from '../abortable.ts'
import { ApiError } from '../api/errors.ts'
import { withRetry } from '../api/retry.ts'
import type { CallOptions, Files, FolderListing, RemoteFile } from '../api/types.ts'
import type { Chance } from '../world/chance.ts'
import { sleep, type Clock } from '../world/clock.ts'
import { checkGone, lookUp } from './remote-lookup.ts'

export interface RemoteDelete {
  readonly files: Files
  readonly path: string
  readonly clock: Clock
  readonly chance: Chance
  /** Time limit for all attempts together (ms). */
  readonly deadlineMs: number
  /** Ends the waiting; an attempt under way goes on. */
  readonly signal: AbortSignal
  /** Called with each attempt's promise, that ends when the service answers, even if `signal` has ended the waiting. */
  readonly onAttempt?: (answered: Promise<void>) => void
  /**
   * Called before a repetition with the record now at the path. True while it is still the one to be deleted; false
   * ends the delete without an error. May throw, to end it with one.
   */
  readonly isToGo: (standing: RemoteFile | FolderListing) => boolean | Promise<boolean>
}

const mostAttempts = 4

/**
 * Deletes the path, which the caller has just checked. Throws ApiError, NetworkError, EIO where the service contradicts
 * itself, and the errors of `isToGo`.
 */
export async function deleteLooking(wanted: RemoteDelete): Promise<void> {
  const { files, path, clock, chance, signal } = wanted
  const until = clock.monotonic() + wanted.deadlineMs
  const remainingMs = (): number => Math.max(1, until - clock.monotonic())
  await withRetry(
    {
      repeatable: 'freely',
      attempts: mostAttempts,
      remainingMs,
      sleep: (ms) => sleep(clock, ms, { signal }),
      random: () => chance.random(),
      onRetry() {},
    },
    async (attempt) => {
      const options = { deadlineMs: remainingMs(), signal }
      if (attempt > 1) {
        const standing = await stillAt(files, path, { ...options, attempts: 1 })
        if (standing === undefined || !(await wanted.isToGo(standing))) return
      }
      const deleting = files.delete(path, { deadlineMs: remainingMs(), attempts: 1 })
      wanted.onAttempt?.(deleting)
      await abortable(deleting, signal).catch((error: unknown) =>
        checkGone(files, path, error, { ...options, timers: clock }),
      )
    },
  )
}

/** Looks the path up again. A 404 is believed, although the parent's listing may lag behind: the path was just deleted. */
async function stillAt(
  files: Files,
  path: string,
  options: CallOptions,
): Promise<RemoteFile | FolderListing | undefined> {
  try {
    return await lookUp(files, path, options)
  } catch (error) {
    const refusal = (error as Error | undefined)?.cause
    if (refusal instanceof ApiError && refusal.status === 404) return undefined
    throw error
  }
}
