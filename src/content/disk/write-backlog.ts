// Blocks that wait to be written to disk, by the file they go to, bounded in bytes. No I/O here.

import { endUse, use } from '../block-uses.ts'
import type { StoredBlock } from './segment-table.ts'
import { segmentName, segmentNumber } from './stored-version.ts'
import type { StoredVersion } from './stored-version.ts'

/** The blocks for one file. */
export interface WaitingBlocks {
  readonly version: StoredVersion
  readonly blocks: readonly StoredBlock[]
  readonly bytes: number
}

export class WriteBacklog {
  readonly #maxBytes: number
  readonly #waiting = new Map<string, { version: StoredVersion; blocks: StoredBlock[]; bytes: number }>()
  /** Names of the files with waiting blocks, by path key. */
  readonly #names = new Map<string, Set<string>>()
  #bytes = 0

  constructor(maxBytes: number) {
    this.#maxBytes = maxBytes
  }

  /** Adds a block, or drops it if it does not fit. Returns the file's name if this is the first block that waits for it. */
  add(version: StoredVersion, block: StoredBlock): string | undefined {
    const bytes = block.bytes.reduce((sum, piece) => sum + piece.length, 0)
    if (this.#bytes + bytes > this.#maxBytes) return undefined
    this.#bytes += bytes
    use(block.bytes)
    const name = segmentName(version, segmentNumber(block.block))
    const waiting = this.#waiting.get(name)
    if (waiting === undefined) {
      this.#waiting.set(name, { version, blocks: [block], bytes })
      this.#namesOf(version.pathKey).add(name)
      return name
    }
    waiting.blocks.push(block)
    waiting.bytes += bytes
    return undefined
  }

  get isHalfFull(): boolean {
    return this.#bytes > this.#maxBytes / 2
  }

  /** Removes and returns the blocks for a file; their bytes count until `written`. */
  take(name: string): WaitingBlocks | undefined {
    const waiting = this.#waiting.get(name)
    if (waiting !== undefined) this.#leave(name, waiting.version)
    return waiting
  }

  /** Frees the memory of blocks from `take`, once they are written, or dropped. */
  written(waiting: WaitingBlocks): void {
    this.#bytes -= waiting.bytes
    for (const { bytes } of waiting.blocks) endUse(bytes)
  }

  /** Gives the waiting blocks of one version to another. Returns the names of the files that they wait for now. */
  move(from: StoredVersion, to: StoredVersion): string[] {
    const moved: string[] = []
    for (const name of this.#names.get(from.pathKey) ?? []) {
      if (!name.startsWith(from.key)) continue
      const waiting = this.take(name)
      if (waiting === undefined) continue
      this.#bytes -= waiting.bytes
      for (const block of waiting.blocks) {
        const first = this.add(to, { ...block, tag: 0 })
        if (first !== undefined) moved.push(first)
        endUse(block.bytes)
      }
    }
    return moved
  }

  /** Drops the waiting blocks of all versions of a path. */
  drop(pathKey: string): void {
    for (const name of this.#names.get(pathKey) ?? []) {
      const waiting = this.take(name)
      if (waiting !== undefined) this.written(waiting)
    }
  }

  /** Drops all waiting blocks. */
  clear(): void {
    for (const pathKey of this.#names.keys()) this.drop(pathKey)
  }

  #namesOf(pathKey: string): Set<string> {
    const names = this.#names.get(pathKey) ?? new Set()
    this.#names.set(pathKey, names)
    return names
  }

  #leave(name: string, { pathKey }: StoredVersion): void {
    this.#waiting.delete(name)
    const names = this.#namesOf(pathKey)
    names.delete(name)
    if (names.size === 0) this.#names.delete(pathKey)
  }
}
