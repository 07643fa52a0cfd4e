// Blocks in memory, bounded in bytes, the least recently used evicted first. Knows versions only by number.

import { LRUCache } from 'lru-cache'
import type { Block } from '../block.ts'
import { endUse, use } from '../block-uses.ts'

/** 2^26 blocks of 128 KiB are 8 TiB; the rest of a safe integer tells versions apart. */
const blocksPerVersion = 2 ** 26

export class BlockCache {
  readonly #blocks: LRUCache<number, Resident> | undefined

  readonly sizeBytes: number

  /** `sizeBytes` below one block keeps nothing. `onEvict` is called whenever a block of a version is removed. */
  constructor(sizeBytes: number, onEvict: (versionId: number) => void) {
    this.sizeBytes = sizeBytes
    if (sizeBytes < 1) return
    this.#blocks = new LRUCache<number, Resident>({
      maxSize: sizeBytes,
      sizeCalculation: (resident) => resident.sizeBytes,
      dispose: ({ bytes }, key) => {
        onEvict(Math.floor(key / blocksPerVersion))
        endUse(bytes)
      },
    })
  }

  /** Returns the block without counting it as used: blocks that a sequential reader has passed are evicted before those ahead. */
  peek(versionId: number, block: number): Block | undefined {
    return this.#blocks?.peek(versionId * blocksPerVersion + block)?.bytes
  }

  /** Counts the block as used, because it will be read again. */
  touch(versionId: number, block: number): void {
    this.#blocks?.get(versionId * blocksPerVersion + block)
  }

  has(versionId: number, block: number): boolean {
    return this.#blocks?.has(versionId * blocksPerVersion + block) ?? false
  }

  /** Adds a block. True where it is kept. */
  set(versionId: number, block: number, bytes: Block, sizeBytes: number): boolean {
    const key = versionId * blocksPerVersion + block
    this.#blocks?.set(key, { bytes, sizeBytes })
    if (this.#blocks?.has(key) !== true) return false
    use(bytes)
    return true
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
