// Remote bytes by block, through the presigned URL. Knows versions and extents, no names and no handles' semantics.

import type { RemoteFile } from '../../api/types.ts'
import type { Block } from '../block.ts'
import type { DiskCache } from '../disk/disk-cache.ts'
import type { Version } from '../fingerprint.ts'

/** The reader that the bytes are for. */
export interface ReadFor {
  /** Aborted when nobody waits for the bytes any more. */
  readonly signal: AbortSignal
  /**
   * Bytes that are answered at once, without a promise, may lie here: who gives it has used them before anybody else
   * is given the same.
   */
  readonly readBuffer?: Uint8Array | undefined
}

/** Bytes that are answered later do not lie in the reader's room, which another reader has by then. */
export function later({ signal }: ReadFor): ReadFor {
  return { signal }
}

/** The reading side of one open(): carries the read-ahead state of that handle. */
export interface Reading {
  /** One past the furthest byte that was asked for; infinite where that was the document's end. */
  readonly furthest: number
  /** The bytes of the range clipped to the version's size. ESTALE when the remote content is no longer this version. */
  read(
    offset: number,
    length: number,
    reader: ReadFor,
  ): readonly Uint8Array[] | Promise<readonly Uint8Array[]>
  close(): void
}

export interface FetchWholeOptions {
  readonly signal: AbortSignal
  /** Told of bytes that were missing on disk and are there now. */
  readonly onKept?: (bytes: number) => void
}

export interface Reader {
  /** Blocks kept on disk. */
  readonly disk: DiskCache
  open(version: Version): Reading
  /** The size of a document whose record did not tell it, learned from a ranged GET. */
  learnSize(version: Version, signal: AbortSignal): Promise<number>
  /** Writes the first `length` bytes (default: all) of the version into the open file descriptor `fd` at offset 0, from blocks where they are here. */
  copyTo(version: Version, fd: number, options: { length?: number; signal: AbortSignal }): Promise<number>
  /** Fetches the blocks of a document's first `bytes` at low priority, so that the next open finds them. */
  prefetch(version: Version, bytes: number): void
  /**
   * Sees to it that all of a version is on disk, in its place there (`DiskCache.placeOf`), while no reader wants the network.
   * Answers how many bytes came through it. Throws ENOSPC where there is no room, ESTALE, EIO, ApiError, NetworkError, and
   * EINVAL for a version that `isKeepable` is false of.
   */
  fetchWhole(version: Version, options: FetchWholeOptions): Promise<number>
  /** The service was asked for the document at `path` just now: the link in its record is good for whoever reads this version next. */
  looked(path: string, record: RemoteFile): void
  /** Lets go of all blocks in memory. */
  forgetMemory(): void
  /** Takes over a file that holds exactly this version's bytes (a spool file after its commit). Removes `file`. */
  adopt(version: Version, file: string): Promise<void>
  /**
   * Keeps a version's bytes that are at hand, in memory and on disk as if they had been fetched, and with the pins at once where it
   * is pinned. At most one block.
   */
  keep(version: Version, bytes: Uint8Array): void
  /** The same bytes live under another version now (a rename in the service). */
  moved(from: Version, to: Version): void
  /** It is about to be replaced: what is here of it is found by `copyBackup` alone, until `dropBackup`. */
  backUpBlocks(version: Version): void
  /** Writes the backup into `fd`, without a call to the service. False where not all of it is here. */
  copyBackup(version: Version, fd: number): Promise<boolean>
  dropBackup(path: string): void
  /** Hands the version's bytes to `take`, in order, without a call to the service. False where not all of them are here. */
  readHere(version: Version, take: (bytes: Block) => Promise<void> | void): Promise<boolean>
  /**
   * Forgets all blocks of a path: its content is another one now, or about to be. Resolves when they are gone from disk, too
   * (`isSure`: whatever a power cut brings back), and never rejects.
   */
  forget(path: string, options?: { isSure?: boolean }): Promise<void>
  close(): Promise<void>
}
