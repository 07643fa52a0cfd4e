// Attempts of a download, repeated after refused URLs, cut connections and temporary errors: the only place in read/ that
// tries again. The caller decides how an attempt uses the bytes.

import { sleep } from '../../world/clock.ts'
import type { World } from '../../world/world.ts'
import { ApiError, NetworkError, isTemporary } from '../../api/errors.ts'
import type { Files } from '../../api/types.ts'
import { doublingMs } from '../../backoff.ts'
import type { Cancellation } from './cancellation.ts'
import { ErrnoError } from '../../errno-error.ts'
import type { Version } from '../fingerprint.ts'
import type { LinkEstimate } from './link-estimate.ts'
import type { ReadTimeBudget } from './read-time-budget.ts'
import type { PresignedUrls } from './presigned-urls.ts'
import type { Log } from '../../log.ts'

export interface DownloadSources {
  readonly files: Files
  readonly urls: PresignedUrls
  readonly timeBudget: ReadTimeBudget
  readonly link: LinkEstimate
  readonly log: Log
  readonly world: Pick<World, 'clock' | 'chance'>
}

/** One attempt of a download. */
export type Attempt<T> = (
  url: string,
  options: {
    /** The version that the URL is for. */
    at: Version
    /** Ends the attempt. */
    signal: AbortSignal
    /** To be called when bytes were received. */
    progressed: () => void
  },
) => Promise<T>

/** An attempt that receives no byte for so long is ended (ms). */
const stallMs = 7_000
const stallCheckMs = 500
/** A check so late (ms) shows that the process was stopped meanwhile. */
const standstillMs = 2_500
const delays = { firstMs: 100, longestMs: 2_000 }
/** Statuses with which a store answers a URL that has expired or is invalid for another reason. */
const refusedStatuses = [401, 403, 404, 410]

/**
 * Runs `attempt` with the version's URL until it succeeds. A refused URL is renewed once; after temporary errors it is tried
 * again until the time budget, counted from the last byte received, is over. Throws EIO for a URL refused twice, the last
 * error, or the cancellation's reason.
 */
export async function attemptDownload<T>(
  sources: DownloadSources,
  version: () => Version,
  cancellation: Cancellation,
  attempt: Attempt<T>,
): Promise<T> {
  const { urls, timeBudget, log } = sources
  const { clock, chance } = sources.world
  const now = clock.monotonic
  const budgetMs = timeBudget.budgetMs
  let lastProgressMs = now()
  let failures = 0
  let refusedUrl: string | undefined
  for (;;) {
    let url: string | undefined
    const limitMs = Math.max(stallCheckMs, Math.min(stallMs, budgetMs - timeBudget.silentMs(lastProgressMs)))
    let lastSeenMs = now()
    const controller = cancellation.begin()
    const { signal } = controller
    const at = version()
    let checkedMs = now()
    const stalled = clock.setInterval(() => {
      // The process was stopped (a suspend, SIGSTOP), and could not receive a byte.
      if (now() - checkedMs > standstillMs) lastSeenMs = lastProgressMs = now()
      checkedMs = now()
      if (timeBudget.silentMs(lastSeenMs) < limitMs) return
      const detail = `no bytes for ${Math.round(limitMs / 1000)} s`
      controller.abort(new NetworkError({ method: 'GET', path: at.path }, 'deadline', detail))
    }, stallCheckMs)
    try {
      url = await (refusedUrl === undefined ? urls.get(at, signal) : urls.renew(at, refusedUrl, signal))
      const progressed = (): void => {
        lastSeenMs = lastProgressMs = now()
        failures = 0
        refusedUrl = undefined
      }
      const result = await attempt(url, { at, signal, progressed })
      timeBudget.succeeded()
      return result
    } catch (error) {
      cancellation.throwIfCancelled()
      // The document was moved meanwhile, so the failure at its old path means nothing.
      if (version() !== at) {
        refusedUrl = undefined
        continue
      }
      if (url !== undefined && isRefusal(error)) {
        // EIO, not EACCES: the reader is allowed to read this document.
        if (refusedUrl !== undefined) throw refusedTwice(version(), error)
        refusedUrl = url
        continue
      }
      if (!isTemporary(error) || isAway(error)) throw error
      const delayMs = Math.max(
        doublingMs(++failures, delays, () => chance.random()),
        retryAfterMs(error),
      )
      if (timeBudget.silentMs(lastProgressMs) + delayMs > budgetMs) {
        timeBudget.gaveUp()
        throw error
      }
      log.debug({ path: version().path, delayMs, error: String(error) }, 'download is tried again')
      await sleep(clock, delayMs, { signal: cancellation.begin().signal }).catch(() => {})
      cancellation.throwIfCancelled()
    } finally {
      clock.clear(stalled)
    }
  }
}

function refusedTwice({ path }: Version, cause: unknown): ErrnoError {
  return new ErrnoError('EIO', `${path}: its download link was refused twice`, { cause })
}

function isRefusal(error: unknown): boolean {
  return error instanceof ApiError && refusedStatuses.includes(error.status)
}

/** True where the service is away, so that waiting is of no use. */
function isAway(error: unknown): boolean {
  return error instanceof NetworkError && error.kind === 'away'
}

function retryAfterMs(error: unknown): number {
  return error instanceof ApiError ? (error.retryAfterMs ?? 0) : 0
}
