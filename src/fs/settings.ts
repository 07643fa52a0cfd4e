// Options of a filesystem, with their defaults. `FileSystemOptions` in contract.ts explains each.

import { hostname } from 'node:os'
import { ErrnoError } from '../errno-error.ts'
import type { FileSystemOptions } from './contract.ts'
import { longestTtlMs } from './tree/listings.ts'
import { defaultMemoryBytes, sharesOf, type MemoryShares } from './tree/memory-shares.ts'
import { defaultTemporaryMs } from './unsent/local-only.ts'

export interface Settings {
  readonly cacheTtlMs: number
  readonly closeWaitMs: number
  readonly renameLimit: number
  readonly memory: MemoryShares
  readonly readOnly: boolean
  readonly keepConflicts: boolean
  readonly hostName: string
  readonly stateDir: string
  readonly cacheDir: string
  readonly temporaryMs: number
  readonly undoMs: number
  readonly undoSizeBytes: number
  readonly shareLocks: boolean
  readonly undoFetchBytes: number
}

const defaultUndoMs = 30 * 86_400_000
const defaultUndoSizeBytes = 2 * 1024 ** 3

/** Throws ErrnoError (EINVAL). */
export function settingsOf(options: FileSystemOptions): Settings {
  const cacheTtlMs = options.cacheTtlMs ?? 30_000
  if (!(cacheTtlMs >= 0 && cacheTtlMs < longestTtlMs)) {
    throw new ErrnoError(
      'EINVAL',
      'the cache TTL must be under 15 minutes: the download URLs in a listing live no longer',
    )
  }
  return {
    cacheTtlMs,
    closeWaitMs: options.closeWaitMs ?? 10_000,
    renameLimit: options.renameLimit ?? 1_000,
    memory: sharesOf(options.memoryBytes ?? defaultMemoryBytes),
    readOnly: options.readOnly ?? false,
    keepConflicts: options.onConflict !== 'overwrite',
    hostName: options.hostName ?? hostname(),
    stateDir: options.stateDir,
    cacheDir: options.cacheDir,
    temporaryMs: options.temporaryMs ?? defaultTemporaryMs,
    undoMs: options.undoMs ?? defaultUndoMs,
    undoSizeBytes: options.undoSizeBytes ?? defaultUndoSizeBytes,
    shareLocks: options.shareLocks ?? false,
    undoFetchBytes: options.undoFetchBytes ?? 0,
  }
}
