// A `Files` around another that counts calls and knows whether the service answers. Same shape in, same shape out.

import { ApiError, NetworkError } from '../../api/errors.ts'
import type {
  CallOptions,
  Download,
  Files,
  FolderListing,
  Range,
  RemoteFile,
  Upload,
} from '../../api/types.ts'

export class WatchedFiles implements Files {
  readonly project: string
  readonly #inner: Files
  apiCalls = 0
  downloads = 0
  failedCalls = 0
  isReachable = true
  /** Called when an answer comes after the service was out of reach. */
  onReachableAgain: () => void = () => {}
  /** Called when the service is out of reach. */
  onUnreachable: () => void = () => {}

  constructor(inner: Files) {
    this.#inner = inner
    this.project = inner.project
  }

  get(path: string, options?: CallOptions): Promise<RemoteFile | FolderListing> {
    this.apiCalls++
    return this.#observe(this.#inner.get(path, options))
  }

  upload(path: string, upload: Upload, options?: CallOptions): Promise<RemoteFile> {
    this.apiCalls++
    return this.#observe(this.#inner.upload(path, upload, options))
  }

  delete(path: string, options?: CallOptions): Promise<void> {
    this.apiCalls++
    return this.#observe(this.#inner.delete(path, options))
  }

  download(url: string, path: string, range: Range, options?: CallOptions): Promise<Download> {
    this.downloads++
    return this.#observe(this.#inner.download(url, path, range, options))
  }

  async #observe<T>(call: Promise<T>): Promise<T> {
    try {
      const answer = await call
      this.#reached()
      return answer
    } catch (error) {
      if (error instanceof ApiError && error.status < 500) this.#reached()
      else this.failedCalls++
      if (error instanceof NetworkError && error.kind === 'unreachable') this.#lost()
      throw error
    }
  }

  #lost(): void {
    this.isReachable = false
    this.onUnreachable()
  }

  #reached(): void {
    if (this.isReachable) return
    this.isReachable = true
    this.onReachableAgain()
  }
}
