// Presigned download URLs by path: from the tree's records while they live, from one GET otherwise. A URL is a secret
// for 15 minutes (interface, "Limits"): it is handed to `Files.download` and to nobody else, never logged.

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
  /** Told of a record that is not the version somebody was reading, so that the tree can show it. */
  readonly onChanged?: (path: string, file: RemoteFile) => void
  /** Milliseconds of a clock that only grows; `remember` is told times of the same one. */
  readonly now: () => number
  readonly maxEntries?: number
}

/** One minute short of what the service promises: a download has to begin while its URL lives. */
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
      // Not `max`, for which room is made at once.
      maxSize: options.maxEntries ?? 200_000,
      sizeCalculation: () => 1,
      ttl: usedForMs,
      ttlResolution: 0,
      perf: { now: this.#now },
    })
  }

  /** Takes the URL of a record, unless a younger one is known. */
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

  /** The known URL of a version, or one by a GET. Throws ESTALE when the document is another one now, EIO without a URL. */
  async get(version: Version, signal: AbortSignal): Promise<string> {
    const known = this.#signed.get(version.path)
    // A record of another version may be older than the reader's own: only a fresh one decides.
    if (known?.fingerprint === version.fingerprint) return known.url
    return this.#load(version, signal)
  }

  /** Another URL for one that was refused; everybody who was refused shares one GET. Throws as `get`. */
  async renew(version: Version, refusedUrl: string, signal: AbortSignal): Promise<string> {
    if (this.#signed.peek(version.path)?.url === refusedUrl) this.#signed.delete(version.path)
    return this.get(version, signal)
  }

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
      // The version was listed: whatever 4xx stands for a missing path here, it can no longer be read.
      if (error instanceof ApiError && mayMeanMissing(error))
        throw gone(path, 'is gone from the service', error)
      throw error
    }
  }
}

function gone(path: string, what: string, cause?: unknown): ErrnoError {
  return new ErrnoError('ESTALE', `${path}: the document ${what}`, { cause })
}
