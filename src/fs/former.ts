// Versions that programs here replaced or deleted, as people are told of them.

/** A version of a document that is kept for undo, or of which that is known why it is not. */
export interface Former {
  readonly path: string
  readonly how: 'replaced' | 'deleted'
  /** ISO time at which it went. */
  readonly at: string
  /** ISO time at which the service stored it, where that was told. */
  readonly storedAt: string | undefined
  readonly bytes: number | undefined
  /** Why its bytes are not on this machine, in words; absent where they are. */
  readonly missing?: string
  /** It was brought back since. */
  readonly isRestored: boolean
}

export interface RestoreRequest {
  readonly path: string
  /** ISO time: as it was then. Absent: as it was last, before it was replaced or deleted. */
  readonly at?: string | undefined
  /** Where it is put, in the project. Absent: where it was. */
  readonly to?: string | undefined
}

export interface RestoreAnswer {
  /** Documents that are back, and at which path. */
  readonly restored: readonly { readonly path: string; readonly from: string; readonly bytes: number }[]
  /** Those that are not, and why, in words. */
  readonly left: readonly { readonly path: string; readonly why: string }[]
}
