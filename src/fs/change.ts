// The changes of a drive for its activity log: changes that the service accepted or refused, and documents that were fetched whole.

import type { QueueEvent } from '../content/commit/queue-event.ts'
import type { Intention } from '../content/intention.ts'

/**
 * - `sent`: a document is new in the service; `replaced`: it replaced a version there.
 * - `received`: a document was fetched whole.
 * - `moved`, `copied`: the service moved or copied its own content; `from` is the source.
 * - `deleted`: a document, or a folder with the documents that were left in it.
 * - `refused`: by the service; `reason` is its message.
 * - `conflict`: another client's version was kept at `copy`.
 */
export type ChangeKind =
  | 'sent'
  | 'received'
  | 'replaced'
  | 'moved'
  | 'copied'
  | 'deleted'
  | 'refused'
  | 'conflict'

export interface Change {
  readonly kind: ChangeKind
  readonly path: string
  readonly from?: string
  /** Bytes of the document, where they are known. */
  readonly bytes?: number
  readonly reason?: string
  readonly copy?: string
}

/** Returns the change that an event of the queue reports; undefined for one that matters only to the drive. */
export function changeOf(event: QueueEvent): Change | undefined {
  const { path, lastError } = event.intention
  switch (event.kind) {
    case 'done':
    // The service has stored it, although the document is being written again.
    case 'contentSuperseded':
      return stored(event.intention, event.record?.size)
    case 'refused':
      return { kind: 'refused', path, ...(lastError === undefined ? {} : { reason: lastError }) }
    case 'conflictKept':
      return { kind: 'conflict', path, copy: event.copy }
    case 'superseded':
    case 'replaced':
    case 'standsOn':
    case 'moveDetached':
      return undefined
  }
}

function stored(intention: Intention, storedBytes: number | undefined): Change {
  const { kind, path, source, keepSource, spool, base, size } = intention
  if (kind !== 'put') return { kind: 'deleted', path }
  const length = storedBytes ?? size
  const bytes = length === undefined ? {} : { bytes: length }
  if (source !== undefined && source !== path && (keepSource === true || spool === undefined))
    return { kind: keepSource === true ? 'copied' : 'moved', path, from: source, ...bytes }
  return { kind: base === undefined ? 'sent' : 'replaced', path, ...bytes }
}
