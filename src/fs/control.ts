// What people ask of a mounted project beside files: status, wait, refresh, retry, recover, drain.

import { createWriteStream, readdirSync } from 'node:fs'
import { open as openFile } from 'node:fs/promises'
import { join } from 'node:path'
import { Readable } from 'node:stream'
import { pipeline } from 'node:stream/promises'
import { waitForJob, type Job } from '../content/commit/job.ts'
import { ErrnoError } from '../errno-error.ts'
import { concerns } from '../content/intention.ts'
import { isKept } from './tree/node-table.ts'
import { localFiles, whyHere } from './unsent/local-only.ts'
import type { DrainProgress, FileSystemStatus, LocalFile, Unsent } from './status.ts'
import type { Superblock } from './superblock.ts'
import { unsentOf } from './unsent/unsent-of.ts'

export function status(sb: Superblock): FileSystemStatus {
  const unsent = [...sb.queue.jobs()].map((job) => unsentJob(sb, job))
  const scratch = scratchFiles(sb)
  const conflictCopies = sb.conflicts.list(sb)
  return {
    project: sb.files.project,
    readOnly: sb.settings.readOnly,
    service: sb.files.reach.state,
    stale: sb.files.reach.isAway,
    away: sb.files.reach.absence,
    unsent,
    unsentBytes: bytesOf(unsent),
    scratchFiles: scratch.length,
    scratch,
    localOnly: localFiles(sb),
    refusedNames: sb.refusedNames.list((path) => isThere(sb, path)),
    pins: sb.pins.status(),
    conflictCopies,
    conflicts: sb.journal.counter('conflicts') + conflictCopies.length,
    lost: sb.lost.list(),
    damaged: damagedIn(sb.settings.stateDir),
    oddEntries: sb.tree.source.oddEntries,
    openHandles: sb.handles.count,
    knownNodes: sb.tree.nodes.count,
    calls: { api: sb.files.apiCalls, downloads: sb.files.downloads, failed: sb.files.failedCalls },
    stateDir: sb.settings.stateDir,
    cacheDir: sb.settings.cacheDir,
  }
}

function scratchFiles(sb: Superblock): LocalFile[] {
  const files: LocalFile[] = []
  for (const node of sb.tree.nodes.all())
    if (node.isScratch && node.folder === undefined && isKept(node))
      files.push({ path: node.path, bytes: node.size ?? 0, why: whyHere(node) })
  return files
}

/** True where a name is known to be there, as far as can be said without asking. */
function isThere(sb: Superblock, path: string): boolean {
  const node = sb.tree.find(path)
  return node !== undefined && !node.isUnlinked
}

/** What was set aside at some start, and still lies there. */
function damagedIn(stateDir: string): string[] {
  return readdirSync(stateDir)
    .filter((name) => name.includes('.damaged-') && !name.endsWith('-wal'))
    .map((name) => join(stateDir, name))
}

/** Changes at or under a path that the service has not got yet. */
export function unsentUnder(sb: Superblock, path: string): readonly Unsent[] {
  return sb.queue.jobsUnder(path).map((job) => unsentJob(sb, job))
}

/** The latest change of this very path that the service has not got yet. */
export function unsentAt(sb: Superblock, path: string): Unsent | undefined {
  const job = sb.queue.find(path)
  return job === undefined ? undefined : unsentJob(sb, job)
}

function unsentJob(sb: Superblock, { intention, isRunning }: Job): Unsent {
  // An attempt may take its time to learn that nobody is there.
  const isSending = isRunning && !sb.files.reach.isAway
  return unsentOf(intention, { isRunning: isSending, now: sb.clock.wall(), spoolDir: sb.spool.dir })
}

function bytesOf(unsent: readonly Unsent[]): number {
  return unsent.reduce((sum, { bytes }) => sum + bytes, 0)
}

/** Resolves when nothing at or under the path is unsent. Throws ETIMEDOUT, or the refusal of one. */
export async function wait(
  sb: Superblock,
  path: string,
  options: { timeoutMs: number; signal?: AbortSignal },
): Promise<void> {
  const until = sb.clock.steady() + options.timeoutMs
  sb.queue.expedite((intention) => concerns(intention, path))
  for (let jobs = sb.queue.jobsUnder(path); jobs.length > 0; jobs = sb.queue.jobsUnder(path)) {
    const job = jobs.find(({ isHeld }) => !isHeld)
    // A document that is being written is sent when it is closed.
    if (job === undefined)
      throw new ErrnoError(
        'EBUSY',
        `${jobs[0]?.intention.path} is open for writing: it is sent when it is closed`,
      )
    const left = until - sb.clock.steady()
    const outcome = left <= 0 ? 'timeout' : await waitForJob(job, { timeoutMs: left, signal: options.signal })
    if (outcome !== 'done')
      throw new ErrnoError('ETIMEDOUT', `${jobs.length} changes under ${path} are not sent yet`)
  }
}

/** Tries everything at or under the path again, now, also what the service refused. Answers how many. */
export function retry(sb: Superblock, path: string): number {
  sb.files.reach.probeNow()
  sb.files.reach.probeNow()
  return sb.queue.expedite((intention) => concerns(intention, path), { refusedToo: true })
}

/** Copies the content at a path, spool first, to a new file outside the mount. Throws ENOENT, EEXIST. */
export async function recoverTo(sb: Superblock, path: string, destination: string): Promise<void> {
  const job = sb.queue.find(path)
  const spool = job?.intention.spool
  const content = spool === undefined ? sb.tree.find(path)?.content : sb.spool.get(spool)
  if (content !== undefined) {
    await pipeline(
      Readable.from(content.stream()),
      createWriteStream(destination, { flags: 'wx', mode: 0o600 }),
    )
    return
  }
  const node = sb.tree.find(path)
  if (node?.version === undefined) throw new ErrnoError('ENOENT', `nothing is kept here for ${path}`)
  const file = await openFile(destination, 'wx', 0o600)
  try {
    await sb.reader.copyTo(node.version, file.fd, { signal: AbortSignal.timeout(600_000) })
  } finally {
    await file.close()
  }
}

/** Sends everything, whatever it waits for, until done, refused, or out of time. Answers what is left. */
export async function drain(
  sb: Superblock,
  options: { timeoutMs: number; onProgress?: (progress: DrainProgress) => void },
): Promise<readonly Unsent[]> {
  const until = sb.clock.steady() + options.timeoutMs
  for (;;) {
    sb.queue.expedite(({ attempts }) => attempts === 0)
    const open = [...sb.queue.jobs()].filter(({ intention }) => !intention.isRefused)
    const unsent = status(sb).unsent
    options.onProgress?.({ unsent: unsent.length, unsentBytes: bytesOf(unsent) })
    const next = open.find(({ isHeld }) => !isHeld)
    if (next === undefined || sb.clock.steady() >= until) return unsent
    // A refusal is no reason to stop: it is told at the end, with the rest.
    await waitForJob(next, { timeoutMs: Math.min(1_000, until - sb.clock.steady()) }).catch(() => {})
  }
}
