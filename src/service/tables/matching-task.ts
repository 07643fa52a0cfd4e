// Messages between the service and the processes that match: the task of a run, and its result.

import type { RowFormat } from '../../rows/row-format.ts'
import type { StorePlace } from '../store/opened-store.ts'

export interface MatchingTask {
  readonly tableId: string
  /** Number of assets to match against: the first ones of the table. */
  readonly assetCount: number
  readonly data: Readonly<Record<string, unknown>>
  readonly documents: readonly DocumentBytes[]
}

/** The message of a task. The bytes of its documents follow on standard input, in order, which saves a copy. */
export interface MatchingOrder extends Omit<MatchingTask, 'documents'> {
  readonly place: StorePlace
  readonly documents: readonly (Omit<DocumentBytes, 'bytes'> & { readonly length: number })[]
}

export interface DocumentBytes {
  readonly name: string
  readonly format: RowFormat
  readonly bytes: Uint8Array
}

/** `data` is JSON text: copying and serializing a large object would block the serving thread. */
export type MatchingAnswer =
  | { readonly kind: 'done'; readonly data: string; readonly reasoning: string }
  /** A document could not be read into rows. */
  | { readonly kind: 'unreadable'; readonly data: string; readonly reasoning: string }
  | { readonly kind: 'too many'; readonly message: string }
