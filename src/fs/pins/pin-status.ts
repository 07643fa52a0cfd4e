// Answers about pins and the disk cache: the shapes of `docmount pins --json` and `docmount cache --json`.

/**
 * - `waiting`: not looked at yet, or the service is away and never told what is there.
 * - `fetching`: some of it is not here yet.
 * - `here`: all of it is.
 * - `incomplete`: some of it is not here, and `problem` says why; it is tried again.
 */
export type PinState = 'waiting' | 'fetching' | 'here' | 'incomplete'

/** One pinned document or folder, and how much of it is on this machine. */
export interface PinStatus {
  readonly path: string
  readonly state: PinState
  /** As far as is known. */
  readonly documents: number
  readonly bytes: number
  readonly documentsHere: number
  readonly bytesHere: number
  readonly problem: string | undefined
}

/** Why something is not taken: it needs more on disk (bytes) than is free. */
export interface NoRoom {
  readonly documents: number
  readonly needBytes: number
  readonly freeBytes: number
  /** The bound: `--pin-size`, `--cache-size`, or what the disk has. */
  readonly sizeBytes: number
  readonly bound: 'pin-size' | 'cache-size' | 'disk'
}

export type PinAnswer =
  | { readonly kind: 'pinned'; readonly pin: PinStatus; readonly isAway: boolean }
  | ({ readonly kind: 'no-room' } & NoRoom)

export interface FreeAnswer {
  /** Of which something was here. */
  readonly documents: number
}

export type FetchAnswer =
  | {
      readonly kind: 'fetched'
      readonly documents: number
      readonly bytes: number
      /** Fetched through the network. */
      readonly fetchedDocuments: number
      readonly fetchedBytes: number
      /** One sentence for each document or folder that could not be had. */
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
  /** On disk. */
  readonly cachedBytes: number
  readonly cacheSizeBytes: number
  readonly pinnedDocuments: number
  readonly pinnedBytes: number
  readonly pinSizeBytes: number
}
