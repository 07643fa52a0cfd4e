// Messages between the service and its writer: rows, texts and bytes only.

import type { KnownFile } from '../../known-file.ts'
import type { ChangeArgument, ChangeName } from './changes.ts'

export interface WriterData {
  readonly file: string
  /** The writer writes only while all of them are where they were. */
  readonly inPlace: readonly KnownFile[]
  readonly reserveFile: string
  /** How long another program may keep the database before those who wait are refused. */
  readonly waitLimitMs: number
}

export type WriterRequest =
  /** One of `changes.ts`; joins whatever transaction is made next. */
  | {
      readonly kind: 'change'
      readonly id: number
      readonly name: ChangeName
      readonly argument: ChangeArgument<ChangeName>
    }
  /** One statement; in a transaction of its session, or like a change. */
  | {
      readonly kind: 'statement'
      readonly id: number
      readonly sql: string
      readonly parameters: readonly unknown[]
      readonly session: number | undefined
    }
  /** From here to its end nothing else is written. */
  | { readonly kind: 'begin'; readonly id: number; readonly session: number }
  | { readonly kind: 'end'; readonly id: number; readonly session: number; readonly isCommit: boolean }
  | { readonly kind: 'close'; readonly id: number }

export type WriterAnswer =
  | { readonly id: number; readonly result: unknown }
  | { readonly id: number; readonly error: CarriedError }

/** An error as a message carries it. */
export interface CarriedError {
  readonly message: string
  readonly code: string | undefined
  /** Of a ServiceError. */
  readonly statusCode: number | undefined
}
