// Messages between the service and its writer thread.

import type { KnownFile } from '../../known-file.ts'
import type { ChangeArgument, ChangeName } from './changes.ts'

export interface WriterData {
  readonly file: string
  /** The writer refuses to write unless all of these files are still in place. */
  readonly inPlace: readonly KnownFile[]
  readonly reserveFile: string
  /** Milliseconds that another program may hold the lock of the database before waiting requests are refused. */
  readonly waitLimitMs: number
}

export type WriterRequest =
  /** A change of `changes.ts`; it joins the next transaction. */
  | {
      readonly kind: 'change'
      readonly id: number
      readonly name: ChangeName
      readonly argument: ChangeArgument<ChangeName>
    }
  /** One statement: in the transaction of its session, or without one like a change. */
  | {
      readonly kind: 'statement'
      readonly id: number
      readonly sql: string
      readonly parameters: readonly unknown[]
      readonly session: number | undefined
    }
  /** Begins a session, a transaction of several requests. Until its `end` all other requests wait. */
  | { readonly kind: 'begin'; readonly id: number; readonly session: number }
  | { readonly kind: 'end'; readonly id: number; readonly session: number; readonly isCommit: boolean }
  | { readonly kind: 'close'; readonly id: number }

export type WriterAnswer =
  | { readonly id: number; readonly result: unknown }
  | { readonly id: number; readonly error: CarriedError }

/** An error in a message. */
export interface CarriedError {
  readonly message: string
  readonly code: string | undefined
  /** Present for a ServiceError. */
  readonly statusCode: number | undefined
}
