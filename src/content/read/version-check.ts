// Checks that an answer, or a block on disk, is of the version that is being read: by the total size, and by the first ETag
// seen. No I/O.

import type { Download } from '../../api/types.ts'
import { tagOf } from '../disk/segment-table.ts'

export class VersionCheck {
  readonly #sizeBytes: number
  #etag: string | undefined
  #tag = 0

  constructor(sizeBytes: number) {
    this.#sizeBytes = sizeBytes
  }

  /** The number that stands for the ETag on disk (`tagOf`); 0 = none seen. */
  get tag(): number {
    return this.#tag
  }

  /** False for an answer with other content. The first ETag seen counts as the version's. */
  isSameAnswer({ totalSize, etag }: Pick<Download, 'totalSize' | 'etag'>): boolean {
    if (totalSize !== undefined && totalSize !== this.#sizeBytes) return false
    if (etag !== undefined && this.#etag !== undefined && etag !== this.#etag) return false
    if (!this.isSameTag(tagOf(etag))) return false
    this.#etag ??= etag
    return true
  }

  /** False for a block that was stored with another ETag. */
  isSameTag(tag: number): boolean {
    if (tag !== 0 && this.#tag !== 0 && tag !== this.#tag) return false
    if (this.#tag === 0) this.#tag = tag
    return true
  }
}
