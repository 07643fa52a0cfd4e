// Presigned download URLs by path: from the tree's records while they are valid, else by one GET. A URL is a secret, valid
// for 15 minutes (interface, "Limits"): it is passed only to `Files.download`, and never logged.

import { LRUCache } from 'lru-cache'
import { ApiError } from '../../api/errors.ts'
import type { Files, FolderListing, RemoteFile } from '../../api/types.ts'
import { urlLifetimeMs } from '../../api/url-lifetime.ts'
import { abortable } from '../../abortable.ts'
import { ErrnoError } from '../../errno-error.ts'
import { fingerprintOf } from '../fingerprint.ts'
import type { Version } from '../fingerprint.ts'
import { mayMeanMissing } from '../remote-lookup.ts'

export interface PresignedUrlsOptions {
  readonly files: Files
  /** Called with a record that is of another version than a reader's, so that the tree can show it. */
  readonly onChanged?: (path: string, file: RemoteFile) => void
  /** Milliseconds of a monotonic clock, the same as for the times given to `remember`. */
  readonly now: () => number
  readonly maxEntries?: number
}

/** Time for which a URL is used (ms): a minute less than it is valid, as a download must begin in that time. */
const usedForMs = urlLifetimeMs - 60_000
const getDeadlineMs = 10_000

interface Signed {
  readonly url: string
  readonly fingerprint: string
  readonly requestedAtMs: number
}

export class PresignedUrls {
  readonly #files: Files
  readonly #onChanged: (path: string, file: RemoteFile) => void
  readonly #now: () => number
  readonly #signed: LRUCache<string, Signed>
  readonly #loading = new Map<string, Promise<RemoteFile>>()

  constructor(options: PresignedUrlsOptions) {
    this.#files = options.files
    this.#onChanged = options.onChanged ?? (() => {})
    this.#now = options.now
    this.#signed = new LRUCache<string, Signed>({
      // Not `max`, which allocates memory for all entries at once.
      maxSize: options.maxEntries ?? 200_000,
      sizeCalculation: () => 1,
      ttl: usedForMs,
      ttlResolution: 0,
      perf: { now: this.#now },
    })
  }

  /** Keeps the URL of a record, unless a newer one is known. */
  remember(path: string, file: RemoteFile, requestedAtMs: number): void {
    const known = this.#signed.get(path)
    if (known !== undefined && known.requestedAtMs > requestedAtMs) return
    if (file.url !== undefined) {
      const fingerprint = fingerprintOf(file)
      this.#signed.set(path, { url: file.url, fingerprint, requestedAtMs }, { start: requestedAtMs })
    } else if (known !== undefined && known.fingerprint !== fingerprintOf(file)) {
      this.#signed.delete(path)
    }
  }

  /** Returns a version's URL, by a GET if none is known. Throws ESTALE where the document is another one now, EIO without a URL. */
  async get(version: Version, signal: AbortSignal): Promise<string> {
    const known = this.#signed.get(version.path)
    // A known record of another version may be older than the reader's: only a fresh one decides.
    if (known?.fingerprint === version.fingerprint) return known.url
    return this.#load(version, signal)
  }

  /** Returns a new URL in place of a refused one; readers with the same one share a GET. Throws the errors of `get`. */
  async renew(version: Version, refusedUrl: string, signal: AbortSignal): Promise<string> {
    if (this.#signed.peek(version.path)?.url === refusedUrl) this.#signed.delete(version.path)
    return this.get(version, signal)
  }

  /** Forgets the URL of a path whose document was found to be another one. */
  forget(path: string): void {
    this.#signed.delete(path)
  }

  async #load(version: Version, signal: AbortSignal): Promise<string> {
    const { path } = version
    let loading = this.#loading.get(path)
    if (loading === undefined) {
      loading = this.#loadRecord(path).finally(() => this.#loading.delete(path))
      this.#loading.set(path, loading)
    }
    const file = await abortable(loading, signal)
    if (fingerprintOf(file) !== version.fingerprint) {
      this.#onChanged(path, file)
      throw new ErrnoError('ESTALE', `${path}: the document was changed in the service while it was read`)
    }
    if (file.url === undefined) {
      throw new ErrnoError('EIO', `${path}: the service gave no download URL for the document`)
    }
    return file.url
  }

  async #loadRecord(path: string): Promise<RemoteFile> {
    const requestedAtMs = this.#now()
    const record = await this.#getRecord(path)
    if (record.kind !== 'file') throw gone(path, 'is a folder in the service now')
    this.remember(path, record, requestedAtMs)
    return record
  }

  async #getRecord(path: string): Promise<RemoteFile | FolderListing> {
    try {
      return await this.#files.get(path, { deadlineMs: getDeadlineMs })
    } catch (error) {
      // The version was listed before, so any 4xx that may mean a missing path means that it can no longer be read.
      if (error instanceof ApiError && mayMeanMissing(error))
        throw gone(path, 'is gone from the service', error)
      throw error
    }
  }
}

function gone(path: string, detail: string, cause?: unknown): ErrnoError {
  return new ErrnoError('ESTALE', `${path}: the document ${detail}`, { cause })
}
