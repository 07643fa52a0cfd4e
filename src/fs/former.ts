// Shapes for undo (`mount --undo`): former versions, which programs here replaced or deleted.

/** A former version of a document; its bytes are kept, or `missing` says why not. */
export interface Former {
  readonly path: string
  readonly how: 'replaced' | 'deleted'
  /** ISO time at which it was replaced or deleted. */
  readonly at: string
  /** ISO time at which the service stored it, if known. */
  readonly storedAt: string | undefined
  readonly bytes: number | undefined
  /** Why its bytes are not on this machine, in words; absent if they are. */
  readonly missing?: string
  /** True if it was restored since. */
  readonly isRestored: boolean
}

/** A version that is asked for. */
export interface Restorable {
  readonly id: string
  readonly path: string
  readonly bytes: number
  /** Why it cannot be brought back, in words. */
  readonly why: string | undefined
  /** Its bytes, in order. Throws EIO at the end where they are not what was kept. */
  read(): AsyncIterable<Uint8Array>
}

export interface ToRestore {
  /** The versions are of documents that were deleted under the path. */
  readonly isFolder: boolean
  readonly versions: readonly Restorable[]
}

export interface RestoreRequest {
  readonly path: string
  /** ISO time: restores the version of that time. Absent: restores the latest former version. */
  readonly at?: string | undefined
  /** Path in the project to restore to. Absent: the old path. */
  readonly to?: string | undefined
}

export interface RestoreAnswer {
  /** Restored documents, with their new and old paths. */
  readonly restored: readonly { readonly path: string; readonly from: string; readonly bytes: number }[]
  /** Documents that were not restored, and why, in words. */
  readonly left: readonly { readonly path: string; readonly why: string }[]
}
