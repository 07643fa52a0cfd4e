// Reads the content of documents from the service: at the path that the node tells, by the URL that came with its record.

import type { PresignedUrls } from '../../content/read/presigned-urls.ts'
import type { Reader, Reading } from '../../content/read/reader.ts'
import type { Version } from '../../content/fingerprint.ts'
import type { Node } from './node.ts'

export class RemoteContent {
  readonly #reader: Reader
  readonly #urls: PresignedUrls

  constructor(reader: Reader, urls: PresignedUrls) {
    this.#reader = reader
    this.#urls = urls
  }

  /** Returns a reader of the node's version; undefined if the service has none. */
  open(node: Node): Reading | undefined {
    const version = this.#versionOf(node)
    return version === undefined ? undefined : this.#reader.open(version)
  }

  /** Writes the first `length` bytes (default: all) into the open file. Throws as `Reader.copyTo`. */
  async copyTo(node: Node, fd: number, options: { length?: number; signal: AbortSignal }): Promise<void> {
    const version = this.#versionOf(node)
    if (version !== undefined) await this.#reader.copyTo(version, fd, options)
  }

  /** Fetches a document's first `bytes` at low priority, so that the next open finds them. */
  prefetch(node: Node, bytes: number): void {
    const version = this.#versionOf(node)
    if (version !== undefined) this.#reader.prefetch(version, bytes)
  }

  /** Returns a size that the record does not tell, learned from the content. Throws EIO if that does not tell it, either. */
  async learnSize(node: Node, signal: AbortSignal): Promise<number | undefined> {
    const version = this.#versionOf(node)
    return version === undefined ? undefined : this.#reader.learnSize(version, signal)
  }

  #versionOf({ version, remote, stored }: Node): Version | undefined {
    if (version !== undefined && remote !== undefined)
      this.#urls.remember(version.path, remote, stored.askedAt)
    return version
  }
}
