// Carries a fetch out: blocks that are on disk from there, the rest from the network, not too far ahead of its readers. The
// version that it is for decides which blocks are kept, and gives them to waiting reads.

import type { Timers } from '../../world/clock.ts'
import type { Download } from '../../api/types.ts'
import type { Block } from '../block.ts'
import type { DiskCache } from '../disk/disk-cache.ts'
import type { DownloadSources } from './download-attempts.ts'
import type { DownloadQueue, Urgency } from './download-queue.ts'
import { downloadRun } from './download-run.ts'
import type { BlockRun } from '../extent.ts'
import type { Fetch } from './fetch.ts'
import type { Version } from '../fingerprint.ts'
import type { StoredVersion } from '../disk/stored-version.ts'

export interface FillSources {
  readonly download: DownloadSources
  readonly queue: DownloadQueue
  readonly store: DiskCache
}

/** The version a fetch is for. */
export interface FillTarget {
  readonly version: Version
  readonly sizeBytes: number
  /** Undefined where its blocks are not kept on disk. */
  readonly storedVersion: StoredVersion | undefined
  /** Throws ESTALE where an answer, which was requested for the version `at`, is of another one. */
  checkAnswer(answer: Pick<Download, 'totalSize' | 'etag'>, at: Version): void
  /** False for a block on disk that was stored with another ETag. Throws ESTALE. */
  acceptsStored(tag: number): boolean
  /** Keeps a block in memory, and one from the network on disk, and gives it to waiting reads. `urgency`: that of its download. */
  arrived(block: number, bytes: Block, from: 'disk' | 'network', urgency?: Urgency): void
  /** Starts another fetch for the rest of this one. */
  splitOff(fetch: Fetch, first: number): void
  /** True where a read waits for a block that the fetch covers. */
  isAwaited(fetch: Fetch): boolean
}

/** Interval in which a fetch that is too far ahead checks whether it may go on (ms). */
const holdCheckMs = 1_000
/** Number of such checks after which the fetch is aborted, so that its connection can be used for others. */
const maxHoldChecks = 5

/** Resolves when all blocks have arrived. Throws the errors of `downloadRun`, or the cancellation's reason. */
export async function fillFetch(fetch: Fetch, target: FillTarget, sources: FillSources): Promise<void> {
  const { store, queue } = sources
  while (fetch.next < fetch.end) {
    fetch.cancellation.throwIfCancelled()
    const stored = target.storedVersion
    if (stored !== undefined) {
      const located = store.locate(stored, { first: fetch.next, end: fetch.end })
      const run = located instanceof Promise ? await located : located
      if (run.isHere && staysOnDisk(fetch, store) && !target.isAwaited(fetch)) {
        fetch.next = run.end
        continue
      }
      if (run.isHere) {
        fetch.isFlowing = true
        await hold(fetch, target, sources.download.world.clock)
        await fillFromStore(fetch, target, store, stored, run)
        continue
      }
      // The first blocks are absent, but the rest may be on disk.
      if (run.end < fetch.end) target.splitOff(fetch, run.end)
    }
    fetch.isQueued = true
    await queue.run(fetch.urgency, async () => {
      fetch.isQueued = false
      if (fetch.next < fetch.end && !fetch.cancellation.isCancelled)
        await fillFromNetwork(fetch, target, sources)
    })
  }
}

/** True where blocks on disk need not be brought into memory: they are for later, and the disk will be quick then. */
function staysOnDisk({ urgency }: Fetch, store: DiskCache): boolean {
  return urgency === 'rest' || (urgency !== 'foreground' && store.isQuick)
}

async function fillFromStore(
  fetch: Fetch,
  target: FillTarget,
  store: DiskCache,
  stored: StoredVersion,
  run: BlockRun,
): Promise<void> {
  for (const { block, bytes, tag } of await store.read(stored, run)) {
    if (!target.acceptsStored(tag)) return store.drop(stored, block)
    fetch.next = block + 1
    target.arrived(block, bytes, 'disk')
  }
}

function fillFromNetwork(fetch: Fetch, target: FillTarget, { download }: FillSources): Promise<void> {
  return downloadRun(
    download,
    {
      version: () => target.version,
      sizeBytes: target.sizeBytes,
      checkAnswer(answer, at) {
        target.checkAnswer(answer, at)
        fetch.isFlowing = true
      },
      give(block, bytes) {
        fetch.next = block + 1
        target.arrived(block, bytes, 'network', fetch.urgency)
      },
      isTooFar: () => !mayGoOn(fetch, target),
      hold: (progressed) => hold(fetch, target, download.world.clock, progressed),
    },
    { first: fetch.next, end: fetch.end },
    fetch.cancellation,
  )
}

function mayGoOn(fetch: Fetch, target: FillTarget): boolean {
  return fetch.isWanted || fetch.cancellation.isCancelled || target.isAwaited(fetch)
}

/** Waits until the readers have come near. Calls `progressed`, so that a stream held back does not count as stalled. */
async function hold(
  fetch: Fetch,
  target: FillTarget,
  timers: Timers,
  progressed: () => void = () => {},
): Promise<void> {
  for (let checks = 0; !mayGoOn(fetch, target); checks++) {
    if (checks === maxHoldChecks) fetch.abort()
    else await fetch.pause(holdCheckMs, timers)
    progressed()
  }
}
