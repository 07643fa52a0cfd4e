// Blocks in memory, least recently used out first, bounded in bytes. Knows numbers, no documents and no files.

import { LRUCache } from 'lru-cache'
import type { Block } from '../block.ts'

/** 2^26 blocks of 128 KiB are 8 TiB; the rest of a safe integer tells versions apart. */
const blocksPerVersion = 2 ** 26

export class BlockCache {
  readonly #blocks: LRUCache<number, Resident> | undefined

  readonly sizeBytes: number

  /** `sizeBytes` below one block keeps nothing. `onEvict` is told whenever a block of a version leaves. */
  constructor(sizeBytes: number, onEvict: (versionId: number) => void) {
    this.sizeBytes = sizeBytes
    if (sizeBytes < 1) return
    this.#blocks = new LRUCache<number, Resident>({
      maxSize: sizeBytes,
      sizeCalculation: (resident) => resident.sizeBytes,
      dispose: (_resident, key) => onEvict(Math.floor(key / blocksPerVersion)),
    })
  }

  /** Does not count as a use: what a sequential reader has passed goes before what it has not reached. */
  peek(versionId: number, block: number): Block | undefined {
    return this.#blocks?.peek(versionId * blocksPerVersion + block)?.bytes
  }

  /** The block will be read again. */
  touch(versionId: number, block: number): void {
    this.#blocks?.get(versionId * blocksPerVersion + block)
  }

  has(versionId: number, block: number): boolean {
    return this.#blocks?.has(versionId * blocksPerVersion + block) ?? false
  }

  /** True when the block is kept now. */
  set(versionId: number, block: number, bytes: Block, sizeBytes: number): boolean {
    const key = versionId * blocksPerVersion + block
    this.#blocks?.set(key, { bytes, sizeBytes })
    return this.#blocks?.has(key) ?? false
  }

  delete(versionId: number, block: number): void {
    this.#blocks?.delete(versionId * blocksPerVersion + block)
  }

  clear(): void {
    this.#blocks?.clear()
  }
}

interface Resident {
  readonly bytes: Block
  readonly sizeBytes: number
}
