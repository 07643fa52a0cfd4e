// Copy-up: a document's content is copied to this machine, from wherever our own renames and saves have moved it meanwhile.

import { ErrnoError } from '../../errno-error.ts'
import type { Version } from '../../content/fingerprint.ts'
import { waitForJob } from '../../content/commit/job.ts'
import type { Spool } from '../../content/spool/spool.ts'
import type { Clock } from '../../world/clock.ts'
import type { Node } from '../tree/node.ts'
import type { RemoteContent } from '../tree/remote-content.ts'
import { takeContent, type TakeContentParts } from './content.ts'

/** How long a read or write waits for our own commit of the same document, which takes its bytes elsewhere. */
export const ownCommitMs = 10_000

export interface BringParts extends TakeContentParts {
  readonly remote: RemoteContent
  readonly spool: Spool
  readonly clock: Clock
}

/** Copies the content to this machine (copy-up). `length`: this many bytes are enough, since the rest is cut off anyway. */
export async function bringHere(
  parts: BringParts,
  node: Node,
  signal: AbortSignal,
  length?: number,
): Promise<void> {
  if (node.local.copyUp !== undefined) await node.local.copyUp
  if (node.content !== undefined) return
  await node.local.bring(copyUp(parts, node, signal, length))
}

/** Copies the shown version. One that is gone because of our own commit or rename is found again at its new path. */
async function copyUp(
  parts: BringParts,
  node: Node,
  signal: AbortSignal,
  length: number | undefined,
): Promise<void> {
  const { contentGeneration } = node.door
  await node.local.handover
  const { version } = node
  try {
    await copyVersion(parts, node, signal, length)
  } catch (error) {
    if (!isGone(error)) throw error
    // The truncation was meant for the former version: another one must not be cut off.
    if (length !== undefined && node.door.contentGeneration !== contentGeneration) throw error
    if (node.job !== undefined) await waitForJob(parts.clock, node.job, { timeoutMs: ownCommitMs, signal })
    else if (isSameVersion(node.version, version)) throw error
    await copyVersion(parts, node, signal, length).catch((secondError: unknown) => {
      throw stillMoving(node, secondError)
    })
  }
}

function isSameVersion(one: Version | undefined, other: Version | undefined): boolean {
  return one?.path === other?.path && one?.fingerprint === other?.fingerprint
}

/** True for the error of a version that is not, or no longer, at its path. */
export function isGone(error: unknown): boolean {
  return error instanceof ErrnoError && (error.code === 'ESTALE' || error.code === 'ENOENT')
}

/** Returns the error for bytes that were not found: while their own rename is under way they are between two paths. */
export function stillMoving(node: Node, error: unknown): unknown {
  if (!isGone(error) || node.job === undefined) return error
  return new ErrnoError('ETIMEDOUT', `${node.path} is still being moved in the service`, { cause: error })
}

async function copyVersion(
  parts: BringParts,
  node: Node,
  signal: AbortSignal,
  length: number | undefined,
): Promise<void> {
  const { version, door } = node
  const { contentGeneration } = door
  const file = parts.spool.create(node.name)
  try {
    if (version !== undefined && version.size !== 0) {
      await file.fill((fd) =>
        parts.remote.copyTo(node, fd, { ...(length === undefined ? {} : { length }), signal }),
      )
    }
    if (door.contentGeneration !== contentGeneration)
      throw new ErrnoError('ESTALE', `${node.path} was replaced while it was brought here`)
  } catch (error) {
    await parts.spool.remove(file.id)
    throw error
  }
  takeContent(parts, node, file)
  // A part of the content (`length`) is saved nowhere else.
  if (length === undefined) node.local.saved()
}
