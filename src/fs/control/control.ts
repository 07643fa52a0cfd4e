// Commands to a mounted project: wait, retry, recover, drain.

import type { Disk, OpenFile } from '../../world/disk.ts'
import { abortAfter, type Clock } from '../../world/clock.ts'
import { waitForJob, type Job, type WaitOptions } from '../../content/commit/job.ts'
import { abortable } from '../../abortable.ts'
import { ErrnoError } from '../../errno-error.ts'
import { concerns } from '../../content/intention.ts'
import type { CommitQueue } from '../../content/commit/commit-queue.ts'
import type { Reach } from '../../content/reach/reach.ts'
import type { Spool } from '../../content/spool/spool.ts'
import type { DrainProgress, Unsent } from '../status.ts'
import type { RemoteContent } from '../tree/remote-content.ts'
import type { Tree } from '../tree/tree.ts'
import type { LocalOnly } from '../unsent/local-only.ts'
import type { SaveFailures } from '../unsent/save-failures.ts'
import { errnoOf } from '../errno-of.ts'
import { bytesOf, unsentUnder, type UnsentParts } from '../unsent/unsent-now.ts'

/** Longest wait for the decision which local-only files are documents: the service may be away. */
const longestDecisionMs = 30_000

export interface WaitParts {
  readonly queue: CommitQueue
  readonly saveFailures: SaveFailures
  readonly localOnly: LocalOnly
  readonly clock: Clock
}

export interface RetryParts {
  readonly queue: CommitQueue
  readonly saveFailures: SaveFailures
  readonly reach: Reach
}

export interface RecoverToParts {
  readonly queue: CommitQueue
  readonly saveFailures: SaveFailures
  readonly tree: Tree
  readonly spool: Spool
  readonly remote: RemoteContent
  readonly clock: Clock
  readonly disk: Disk
}

/**
 * Resolves when nothing at or under the path is unsent. Throws ETIMEDOUT; or, once everything else is sent, the refusal of one,
 * by the service or by the disk here, and EBUSY for a document that is open for writing.
 */
export async function wait(
  parts: WaitParts,
  path: string,
  options: { timeoutMs: number; signal?: AbortSignal },
): Promise<void> {
  const { queue, saveFailures, clock } = parts
  const until = clock.monotonic() + options.timeoutMs
  await decide(parts, path, options.timeoutMs)
  await saveFailures.tryNow()
  queue.runNow((intention) => concerns(intention, path))
  for (;;) {
    const jobs = queue.jobsUnder(path)
    const next = jobs.find((job) => !job.isHeld && !isStopped(queue, job))
    if (next !== undefined && queue.isPausedBy('asked'))
      throw new ErrnoError('EBUSY', 'sending is paused; docmount resume goes on')
    if (next === undefined) return throwIfLeft(parts, path, jobs)
    const timeoutMs = until - clock.monotonic()
    const isOver = timeoutMs <= 0 || (await timesOut(clock, next, { timeoutMs, signal: options.signal }))
    if (isOver) throw new ErrnoError('ETIMEDOUT', `${jobs.length} changes under ${path} are not sent yet`)
  }
}

/** True if the change was refused, or removes a folder in which one was refused, or a document is open for writing. */
function isStopped(queue: CommitQueue, job: Job): boolean {
  return job.intention.isRefused || queue.stopperOf(job) !== undefined
}

/** Waits for the job, and returns true if time ran out. A refusal does not end the wait: it is thrown at the end. */
async function timesOut(clock: Clock, job: Job, options: WaitOptions): Promise<boolean> {
  try {
    return (await waitForJob(clock, job, options)) !== 'done'
  } catch (error) {
    if (options.signal?.aborted === true) throw error
    return false
  }
}

/** Throws the reason why one of these changes was not sent. */
function throwIfLeft({ saveFailures, queue }: WaitParts, path: string, jobs: readonly Job[]): void {
  const [notKept] = saveFailures.under(path)
  if (notKept !== undefined)
    throw new ErrnoError(
      errnoOf(notKept.error),
      `${notKept.node.path}: the disk of this machine does not take it`,
    )
  for (const job of jobs) {
    const refused = job.intention.isRefused ? job : queue.stopperOf(job)
    if (refused !== undefined) throw refused.error as Error
  }
  const held = jobs[0]?.intention.path
  if (held !== undefined)
    throw new ErrnoError('EBUSY', `${held} is open for writing: it is sent when it is closed`)
}

/** Tries all changes at or under the path again, now, also refused ones. Returns how many. */
export function retry(parts: RetryParts, path: string): number {
  parts.reach.probeNow()
  const failedCount = parts.saveFailures.under(path).length
  void parts.saveFailures.tryNow()
  return failedCount + parts.queue.runNow((intention) => concerns(intention, path), { refusedToo: true })
}

/** Copies the content at a path, spool first, to a new file outside the mount. Throws ENOENT, EEXIST. */
export async function recoverTo(parts: RecoverToParts, path: string, destination: string): Promise<void> {
  // Content that the disk refused is newer than a pending change of the document: the node has it.
  const failure = parts.saveFailures.at(path)
  const job = failure === undefined ? parts.queue.find(path) : undefined
  const spool = job?.intention.spool
  const content = spool === undefined ? parts.tree.find(path)?.content : parts.spool.get(spool)
  const node = parts.tree.find(path)
  if (content === undefined && node?.version === undefined)
    throw new ErrnoError('ENOENT', `nothing is kept here for ${path}`)
  const file = await parts.disk.open(destination, 'wx', 0o600)
  try {
    if (content !== undefined) for await (const chunk of content.stream()) await writeAll(file, chunk)
    else if (node?.version !== undefined)
      await parts.remote.copyTo(node, file.fd, { signal: abortAfter(parts.clock, 600_000) })
  } finally {
    await file.close()
  }
}

/** Sends everything, whatever it waits for, until done, refused, or out of time; nothing while it is paused. Returns the others. */
export async function drain(
  parts: UnsentParts & WaitParts,
  options: { timeoutMs: number; onProgress?: (progress: DrainProgress) => void },
): Promise<readonly Unsent[]> {
  const until = parts.clock.monotonic() + options.timeoutMs
  await decide(parts, '/', options.timeoutMs)
  for (;;) {
    // Quiet times end. A change that has failed keeps its backoff: this loop would repeat it every second.
    parts.queue.runNow(({ attempts }) => attempts === 0)
    const open = [...parts.queue.jobs()].filter((job) => !isStopped(parts.queue, job))
    const unsent = unsentUnder(parts, '/')
    options.onProgress?.({ unsent: unsent.length, unsentBytes: bytesOf(unsent) })
    const next = open.find(({ isHeld }) => !isHeld)
    if (parts.clock.monotonic() >= until || parts.queue.isPausedBy('asked')) return unsent
    if (next === undefined) {
      // Sent changes may have freed space for saves that the disk refused.
      if ((await parts.saveFailures.tryNow()) === 0) return unsentUnder(parts, '/')
      continue
    }
    // A refusal does not end the drain: it is among the changes returned.
    await waitForJob(parts.clock, next, {
      timeoutMs: Math.min(1_000, until - parts.clock.monotonic()),
    }).catch(() => {})
  }
}

/**
 * Decides now which local-only files are documents that are to be sent. A file that cannot be judged without the service stays
 * local.
 */
async function decide({ localOnly, clock }: WaitParts, path: string, timeoutMs: number): Promise<void> {
  const isOver = abortAfter(clock, Math.min(timeoutMs, longestDecisionMs))
  await abortable(localOnly.decideNow(path), isOver).catch(() => {})
}

async function writeAll(file: OpenFile, chunk: Uint8Array): Promise<void> {
  const { bytesWritten } = await file.writev([chunk])
  if (bytesWritten < chunk.length) throw new ErrnoError('ENOSPC', 'the disk took only a part')
}
