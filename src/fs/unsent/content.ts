// The content of a node: a spool file where it is local, a version of the service where not, with its readers.

import type { Journal } from '../../content/spool/journal.ts'
import { later, type ReadFor } from '../../content/read/reader.ts'
import type { SpoolFile } from '../../content/spool/spool-file.ts'
import { attributesOf, type Owner } from '../tree/attributes.ts'
import type { FileHandle, HandleTable } from '../tree/handles.ts'
import type { Node } from '../tree/node.ts'
import type { RemoteContent } from '../tree/remote-content.ts'
import type { Tree } from '../tree/tree.ts'
import type { MaybePromise } from '../operations.ts'
import type { Claims } from './claims.ts'

export interface ForgetParts {
  readonly tree: Tree
  readonly owner: Owner
}

export interface DiscardParts {
  readonly tree: Tree
  readonly claims: Claims
  readonly journal: Journal
}

export type TakeContentParts = ForgetParts & DiscardParts

/** The bytes of the range, shorter only at the end of the content. */
export function readContent(
  remote: RemoteContent,
  handle: FileHandle,
  offset: number,
  length: number,
  reader: ReadFor,
): MaybePromise<readonly Uint8Array[]> {
  const { node } = handle
  if (node.content !== undefined && node.local.copyUp === undefined) {
    handle.used()
    const chunk = node.content.read(offset, length)
    return chunk instanceof Promise ? chunk.then((bytes) => [bytes]) : [chunk]
  }
  if (node.local.handover !== undefined)
    return node.local.handover.then(() => readContent(remote, handle, offset, length, later(reader)))
  if (handle.reading === undefined) {
    handle.checkCurrent('read')
    const reading = remote.open(node)
    if (reading === undefined) return []
    handle.bind(reading)
  }
  return handle.reading?.read(offset, length, reader) ?? []
}

/** The node's content is this spool file from now on. */
export function takeContent(parts: TakeContentParts, node: Node, file: SpoolFile): void {
  parts.claims.show(node, file)
  node.unsent.contentReplaced()
  // The version in the service is that of the document it was copied from, and not this file's any more.
  if (node.isLocalOnly) forgetStored(parts, node)
  // It was deleted while this came.
  discardContent(parts, node)
}

/** Handles that read another version follow the node: this change is our own. */
export function rebindReaders(handles: HandleTable, node: Node): void {
  if (node.door.openHandles === 0) return
  for (const handle of handles.of(node)) {
    if (handle.reading !== undefined && (node.content !== undefined || !handle.isCurrent)) handle.rebind()
  }
}

/** The node's content is here, and no longer in the service. */
export function forgetStored(parts: ForgetParts, node: Node): void {
  node.times.freeze(attributesOf(node, parts.owner))
  parts.tree.versions.forget(node)
}

/** Lets go of local content that no name and no handle leads to; a crash while one is open loses nothing with it. */
export function discardContent(parts: DiscardParts, node: Node): void {
  const { content } = node
  if (content === undefined || !node.isUnlinked) return
  if (node.door.openHandles > 0) {
    parts.journal.dropped.add(content.id)
    return
  }
  // The service has another one, if any: that is not read as this one by who looked the name up before.
  if (node.isDirty) parts.tree.versions.forget(node)
  parts.claims.show(node, undefined)
}
