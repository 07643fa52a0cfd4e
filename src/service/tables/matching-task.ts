// The task and the answer of a run, as they travel between processes.

import type { RowFormat } from '../../rows/row-format.ts'
import type { StorePlace } from '../store/opened-store.ts'

export interface MatchingTask {
  readonly tableId: string
  /** Assets to match against: those the table has. */
  readonly assetCount: number
  readonly data: Readonly<Record<string, unknown>>
  readonly documents: readonly DocumentBytes[]
}

/** A task on its way: the bytes of its documents come by standard input, in order, without a copy. */
export interface MatchingOrder extends Omit<MatchingTask, 'documents'> {
  readonly place: StorePlace
  readonly documents: readonly (Omit<DocumentBytes, 'bytes'> & { readonly length: number })[]
}

export interface DocumentBytes {
  readonly name: string
  readonly format: RowFormat
  readonly bytes: Uint8Array
}

/** `data` is JSON already: to copy a large object from process to process, and to write it, stops those who serve. */
export type MatchingAnswer =
  | { readonly kind: 'done'; readonly data: string; readonly reasoning: string }
  /** A document holds no rows. */
  | { readonly kind: 'unreadable'; readonly data: string; readonly reasoning: string }
  | { readonly kind: 'too many'; readonly message: string }
