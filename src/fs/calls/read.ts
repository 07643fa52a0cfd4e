// read(2) through a handle.

import { later, type Reading } from '../../content/read/reader.ts'
import { abortable } from '../../abortable.ts'
import { waitForJob } from '../../content/commit/job.ts'
import { ErrnoError } from '../../errno-error.ts'
import type { Clock } from '../../world/clock.ts'
import { andThen } from '../../maybe-promise.ts'
import type { Caller, MaybePromise } from '../operations.ts'
import type { FileHandle, HandleTable } from '../tree/handles.ts'
import type { Node } from '../tree/node.ts'
import type { RemoteContent } from '../tree/remote-content.ts'
import type { Tree } from '../tree/tree.ts'
import { isGone, ownCommitMs, stillMoving } from '../unsent/bring-here.ts'
import { readContent } from '../unsent/content.ts'

export interface ReadParts {
  readonly tree: Tree
  readonly handles: HandleTable
  readonly remote: RemoteContent
  readonly clock: Clock
  /** Prefetches the documents that may be read next. */
  readonly prefetch: { beganToRead(node: Node, reading: Reading): void }
}

export function read(
  parts: ReadParts,
  fh: number,
  offset: number,
  length: number,
  caller: Caller,
): MaybePromise<readonly Uint8Array[]> {
  const handle = parts.handles.file(fh)
  if (!handle.flags.read) throw new ErrnoError('EBADF', `${handle.node.path} is not open for reading`)
  if (handle.node.local.copyUp !== undefined) {
    // `later`: without the door's read buffer, which another call may use by then.
    return abortable(handle.node.local.copyUp, caller.signal).then(() =>
      readContent(parts.remote, handle, offset, length, later(caller)),
    )
  }
  const { reading } = handle
  const chunks = readContent(parts.remote, handle, offset, length, caller)
  // The program's own read is requested before the prefetch.
  if (reading === undefined && handle.reading !== undefined)
    parts.prefetch.beganToRead(handle.node, handle.reading)
  const bytes = noteSeen(parts.tree, handle, chunks, caller)
  if (!(bytes instanceof Promise)) return bytes
  return bytes.catch((error: unknown) => readAgain(parts, handle, error, { offset, length, caller }))
}

/** Notes, once the bytes are here, that the program knows the version they are of. */
function noteSeen(
  { seen }: Tree,
  handle: FileHandle,
  chunks: MaybePromise<readonly Uint8Array[]>,
  caller: Caller,
): MaybePromise<readonly Uint8Array[]> {
  const { node, reading } = handle
  if (reading !== undefined && reading === handle.known) return chunks
  const { shown, path } = node
  return andThen(chunks, (bytes) => {
    handle.known = reading
    if (!node.isUnlinked && !node.isLocalOnly) seen.read(path, shown, caller)
    return bytes
  })
}

/** Repeats a read whose version was moved by our own commit or rename: for the program that is no change. */
async function readAgain(
  parts: ReadParts,
  handle: FileHandle,
  error: unknown,
  { offset, length, caller }: { offset: number; length: number; caller: Caller },
): Promise<readonly Uint8Array[]> {
  const { node } = handle
  if (!isGone(error)) throw error
  if (node.job !== undefined)
    await waitForJob(parts.clock, node.job, { timeoutMs: ownCommitMs, signal: caller.signal })
  else if (handle.reading !== undefined && node.content === undefined) throw error
  handle.rebind()
  try {
    const chunks = readContent(parts.remote, handle, offset, length, later(caller))
    return await noteSeen(parts.tree, handle, chunks, caller)
  } catch (secondError) {
    throw stillMoving(node, secondError)
  }
}
