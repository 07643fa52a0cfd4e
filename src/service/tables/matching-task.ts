// What a run is given and answers, as it travels between threads.

import type { RowFormat } from '../../rows/rows.ts'

export interface MatchingTask {
  readonly tableId: string
  /** Assets to match against: those the table has. */
  readonly assetCount: number
  readonly data: Readonly<Record<string, unknown>>
  readonly documents: readonly DocumentBytes[]
}

export interface DocumentBytes {
  readonly name: string
  readonly format: RowFormat
  readonly bytes: Uint8Array
}

export type MatchingAnswer =
  | { readonly kind: 'done'; readonly data: Record<string, unknown>; readonly reasoning: string }
  /** A document holds no rows. */
  | { readonly kind: 'unreadable'; readonly data: Record<string, unknown>; readonly reasoning: string }
  | { readonly kind: 'too many'; readonly message: string }
