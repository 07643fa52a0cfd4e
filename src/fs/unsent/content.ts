// The content of a node, and its readers: a spool file if it is local, else a version of the service.

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

/** Returns the bytes of the range, shorter only at the end of the content. */
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

/** Makes this spool file the node's content. */
export function takeContent(parts: TakeContentParts, node: Node, file: SpoolFile): void {
  parts.claims.show(node, file)
  node.unsent.contentReplaced()
  // The version in the service belongs to the document that the file was copied from, not to the file.
  if (node.isLocalOnly) forgetStored(parts, node)
  // The document may have been deleted meanwhile.
  discardContent(parts, node)
}

/** Lets handles that read an older version follow the node, after a change of our own. */
export function rebindReaders(handles: HandleTable, node: Node): void {
  if (node.door.openHandles === 0) return
  for (const handle of handles.of(node)) {
    if (handle.reading !== undefined && (node.content !== undefined || !handle.isCurrent)) handle.rebind()
  }
}

/** Notes that the node's content is on this machine, and no longer in the service. Mode and times stay as shown. */
export function forgetStored(parts: ForgetParts, node: Node): void {
  node.times.freeze(attributesOf(node, parts.owner))
  parts.tree.versions.forget(node)
}

/**
 * Discards local content that no name and no handle leads to. Content that is still open is marked, for a start after a crash.
 */
export function discardContent(parts: DiscardParts, node: Node): void {
  const { content } = node
  if (content === undefined || !node.isUnlinked) return
  if (node.door.openHandles > 0) {
    parts.journal.dropped.add(content.id)
    return
  }
  // The service has other content, if any: a program that looked the name up before must not read it as this.
  if (node.isDirty) parts.tree.versions.forget(node)
  parts.claims.show(node, undefined)
}
