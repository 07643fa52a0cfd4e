// Shapes of `docmount pins --json` and `docmount cache --json`.

/**
 * - `waiting`: not surveyed yet, or the service is away and never listed it.
 * - `fetching`: some documents are not on this machine yet.
 * - `here`: all of them are.
 * - `incomplete`: some of them are not, and `problem` says why; they are tried again.
 */
export type PinState = 'waiting' | 'fetching' | 'here' | 'incomplete'

/** One pinned document or folder, and how much of it is on this machine. */
export interface PinStatus {
  readonly path: string
  readonly state: PinState
  /** Documents found so far, and their bytes. */
  readonly documents: number
  readonly bytes: number
  readonly documentsHere: number
  readonly bytesHere: number
  readonly problem: string | undefined
}

/** Reason to refuse a pin or a fetch: it needs more bytes on disk than are free. */
export interface NoRoom {
  readonly documents: number
  readonly needBytes: number
  readonly freeBytes: number
  /** Bytes of the bound: `--pin-size`, `--cache-size`, or the size of the disk. */
  readonly sizeBytes: number
  readonly bound: 'pin-size' | 'cache-size' | 'disk'
}

export type PinAnswer =
  | { readonly kind: 'pinned'; readonly pin: PinStatus; readonly isAway: boolean }
  | ({ readonly kind: 'no-room' } & NoRoom)

export interface FreeAnswer {
  /** Documents of which bytes were here. */
  readonly documents: number
}

export type FetchAnswer =
  | {
      readonly kind: 'fetched'
      readonly documents: number
      readonly bytes: number
      /** Documents and bytes that came through the network. */
      readonly fetchedDocuments: number
      readonly fetchedBytes: number
      /** One sentence for each document or folder that could not be fetched. */
      readonly problems: readonly string[]
    }
  | ({ readonly kind: 'no-room' } & NoRoom)

export interface FetchProgress {
  readonly bytes: number
  readonly bytesHere: number
}

/** The cache folder of this drive. */
export interface CacheStatus {
  readonly dir: string
  readonly cachedDocuments: number
  /** Bytes on disk. */
  readonly cachedBytes: number
  readonly cacheSizeBytes: number
  readonly pinnedDocuments: number
  readonly pinnedBytes: number
  readonly pinSizeBytes: number
}
