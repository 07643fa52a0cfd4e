// Interface of the reader of remote bytes. Knows versions and extents; no names, and no semantics of handles.

import type { RemoteFile } from '../../api/types.ts'
import type { Block } from '../block.ts'
import type { Borrowed } from '../block-uses.ts'
import type { DiskCache } from '../disk/disk-cache.ts'
import type { Version } from '../fingerprint.ts'

/** Options of one read. */
export interface ReadFor {
  /** Aborted when the bytes are not needed any more. */
  readonly signal: AbortSignal
  /**
   * A buffer for bytes that are returned synchronously, not by a promise. The caller must use them before it passes the
   * same buffer to another read.
   */
  readonly readBuffer?: Uint8Array | undefined
  /** Collects the blocks that the returned bytes are views of. The caller ends it once it has used them. */
  readonly borrowed?: Borrowed | undefined
}

/** Options for a read that resolves later: without the buffer, which another read may use by then. */
export function later({ signal, borrowed }: ReadFor): ReadFor {
  return { signal, borrowed }
}

/** The reads of one handle on a version, with its read-ahead state. */
export interface Reading {
  /** One past the furthest byte that was read; infinite where that was the document's end. */
  readonly furthest: number
  /** Returns the bytes of the range, clipped to the version's size. Throws ESTALE where the document is another version now. */
  read(
    offset: number,
    length: number,
    reader: ReadFor,
  ): readonly Uint8Array[] | Promise<readonly Uint8Array[]>
  close(): void
}

export interface FetchWholeOptions {
  readonly signal: AbortSignal
  /** Called with the number of bytes written to disk each time. */
  readonly onKept?: (bytes: number) => void
}

export interface Reader {
  /** The disk cache. */
  readonly disk: DiskCache
  open(version: Version): Reading
  /** Returns the size of a document whose record lacks it, by a ranged GET. */
  learnSize(version: Version, signal: AbortSignal): Promise<number>
  /** Copies the first `length` bytes (default: all) of the version to the start of the open file `fd`. Returns the bytes copied. */
  copyTo(version: Version, fd: number, options: { length?: number; signal: AbortSignal }): Promise<number>
  /** Fetches the blocks of a document's first `bytes` at low priority, so that the next open finds them. */
  prefetch(version: Version, bytes: number): void
  /**
   * Fetches all of a version into its store on disk (`DiskCache.placeOf`), while no reader needs the network. Returns the bytes
   * downloaded. Throws ENOSPC where there is no space, ESTALE, EIO, ApiError, NetworkError, and EINVAL for a version that is not
   * keepable (`isKeepable`).
   */
  fetchWhole(version: Version, options: FetchWholeOptions): Promise<number>
  /** Takes a record that the service just returned for `path`: its download URL serves the next reader of this version. */
  looked(path: string, record: RemoteFile): void
  /** Drops all blocks in memory, when the cache is cleared. */
  forgetMemory(): void
  /** Moves a file with exactly this version's bytes (a spool file after its commit) into the cache, or removes it. */
  adopt(version: Version, file: string): Promise<void>
  /**
   * Keeps the given bytes of a version, at most one block, in memory and on disk, as if they had been fetched; a pinned one is
   * written to the pinned store at once.
   */
  keep(version: Version, bytes: Uint8Array): void
  /** Gives the blocks of one version to another with the same bytes (a rename in the service). */
  moved(from: Version, to: Version): void
  /** Keeps the blocks of a version about to be replaced, only for `copyBackup`, until `dropBackup`. */
  backUpBlocks(version: Version): void
  /** Copies the backup into `fd`, without a call to the service. False where not all of it is here. */
  copyBackup(version: Version, fd: number): Promise<boolean>
  dropBackup(path: string): void
  /** Hands the version's bytes to `take`, in order, without a call to the service. False where not all of them are here. */
  readHere(version: Version, take: (bytes: Block) => Promise<void> | void): Promise<boolean>
  /**
   * Forgets all blocks of a path, whose content has changed or is about to. Resolves when they are deleted from disk, too
   * (`isSure`: so that not even a power cut brings them back), and never rejects.
   */
  forget(path: string, options?: { isSure?: boolean }): Promise<void>
  close(): Promise<void>
}
