// A DELETE that is repeated only after another look. The service's delete of a folder takes all that is in it, and an attempt
// whose answer is lost may have been carried out: what stands there by then may be what another client stored since.

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
  /** For all attempts together (ms). */
  readonly deadlineMs: number
  /** Ends the waiting; an attempt under way goes on. */
  readonly signal: AbortSignal
  /** Told of each attempt: it resolves, or rejects, when it is answered, whoever waits for it. */
  readonly onAttempt?: (answered: Promise<void>) => void
  /**
   * True while the thing there, after an attempt that failed, is still the one that was to go. Throws where that is
   * to be told.
   */
  readonly isToGo: (standing: RemoteFile | FolderListing) => boolean | Promise<boolean>
}

const mostAttempts = 4

/**
 * The caller has just looked at the path. Throws ApiError, NetworkError, EIO where the service contradicts itself,
 * what `isToGo` throws.
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

/** It stood there and was deleted: that it is missing is believed, though its parent's listing may lag behind. */
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
