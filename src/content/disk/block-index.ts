// The index of the disk cache's files: their names, order of use and size on disk. It enforces the hard cap. Rebuilt from
// the folder at every start; other processes may share the folder.

import type { Disk } from '../../world/disk.ts'
import { join } from 'node:path'
import { LRUCache } from 'lru-cache'
import { ignoreMissing, unlinkIfThere } from './enoent-tolerant.ts'
import { pathKeyInName, shardOf } from './stored-version.ts'

/** Files that a scan checks at once: the thread pool has four threads, and reads need one. */
const scanConcurrency = 3
/** Most files in the cache, so that the scan at every start stays cheap. */
const maxFiles = 200_000

export interface BlockIndexOptions {
  readonly disk: Disk
  readonly capBytes: number
  /** False: no file is evicted automatically, and one that does not fit is not taken. */
  readonly evicts: boolean
  /** Called with the name of each file about to be evicted. */
  readonly onEvict: (name: string) => void
}

export class BlockIndex {
  readonly #dir: string
  readonly #options: BlockIndexOptions
  /** Bytes on disk by file name; the least recently used is evicted first. */
  readonly #bytes: LRUCache<string, number>
  /** File names by path key. */
  readonly #names = new Map<string, Set<string>>()
  /** Subfolders known to exist. */
  #shards = new Set<string>()
  #evicted: string[] = []
  #isComplete = false

  constructor(dir: string, options: BlockIndexOptions) {
    this.#dir = dir
    this.#options = options
    this.#bytes = new LRUCache<string, number>({
      maxSize: options.evicts ? options.capBytes : Number.MAX_SAFE_INTEGER,
      sizeCalculation: (bytes) => bytes,
      dispose: (_bytes, name, reason) => {
        if (reason === 'set') return
        this.#unlist(name)
        if (reason === 'evict') this.#evicted.push(name)
      },
    })
  }

  /** Bytes taken by all files. */
  get totalBytes(): number {
    return this.#bytes.calculatedSize
  }

  /** Number of paths with a file here. */
  get documentCount(): number {
    return this.#names.size
  }

  /** Names of all files. */
  names(): readonly string[] {
    return [...this.#bytes.keys()]
  }

  /** True once the folder has been read. */
  get isComplete(): boolean {
    return this.#isComplete
  }

  /** True if the file is here; undefined while the folder has not been read, when only opening the file can tell. */
  has(name: string): boolean | undefined {
    return this.#bytes.has(name) ? true : this.#isComplete ? false : undefined
  }

  /** Marks the file as just used. */
  touch(name: string): void {
    this.#bytes.get(name)
  }

  /** Names of the files of all versions of a path. */
  namesOf(pathKey: string): readonly string[] {
    return [...(this.#names.get(pathKey) ?? [])]
  }

  /** Bytes that a file takes on disk; 0 if it is not in the cache. */
  bytesOf(name: string): number {
    return this.#bytes.peek(name) ?? 0
  }

  pathOf(name: string): string {
    return join(this.#dir, shardOf(name), name)
  }

  /** True where the file's subfolder is known to exist. */
  hasShard(name: string): boolean {
    return this.#shards.has(shardOf(name))
  }

  /** Notes that the file's subfolder exists now. */
  madeShard(name: string): void {
    this.#shards.add(shardOf(name))
  }

  /** Reserves `moreBytes` for a file, evicting others first. False where the cap does not allow it. */
  async reserve(name: string, moreBytes: number): Promise<boolean> {
    const { capBytes, evicts } = this.#options
    const bytes = (this.#bytes.peek(name) ?? 0) + moreBytes
    if (bytes > capBytes || (!evicts && this.totalBytes + moreBytes > capBytes)) return false
    this.#list(name, bytes)
    await this.#removeEvicted()
    return this.#bytes.has(name)
  }

  /** Evicts the least recently used files until at least so many bytes are freed. Returns how many were freed. */
  async evict(bytes: number): Promise<number> {
    const before = this.totalBytes
    while (this.#bytes.size > 0 && before - this.totalBytes < bytes) this.#bytes.pop()
    const freed = before - this.totalBytes
    await this.#removeEvicted()
    return freed
  }

  /** Forgets a file that is gone, or about to be. */
  forget(name: string): void {
    this.#bytes.delete(name)
  }

  /** Removes a file and forgets it. */
  async remove(name: string): Promise<void> {
    this.forget(name)
    await unlinkIfThere(this.pathOf(name), this.#options.disk)
  }

  /** Makes removals and renames of a path survive a power cut. */
  async syncRemoved(pathKey: string): Promise<void> {
    const { disk } = this.#options
    const shard = await disk.open(join(this.#dir, shardOf(pathKey)), 'r').catch(ignoreMissing)
    try {
      await shard?.sync()
    } finally {
      await shard?.close()
    }
  }

  /** Notes that a file was renamed. */
  rename(from: string, to: string): void {
    const bytes = this.#bytes.peek(from)
    this.forget(from)
    if (bytes !== undefined) this.#list(to, bytes)
  }

  /**
   * Reads the folder, so that files added or removed by other runs and processes are counted correctly. Throws the system's
   * errors, and forgets nothing then.
   */
  async scan(): Promise<void> {
    const found = await this.#listFolder()
    found.sort((a, b) => a.usedAtMs - b.usedAtMs)
    const present = new Set(found.map(({ name }) => name))
    for (const name of this.#bytes.keys()) if (!present.has(name)) this.forget(name)
    for (const { name, bytes } of found) if (!this.#bytes.has(name)) this.#list(name, bytes)
    this.#isComplete = true
    await this.#removeEvicted()
  }

  /**
   * Forgets files that others have removed; reads only names. Returns the names of those files. Throws the system's errors, and
   * forgets nothing then.
   */
  async forgetMissing(): Promise<readonly string[]> {
    const present = new Set<string>()
    this.#shards = new Set((await this.#shardsOnDisk().catch(ignoreMissing)) ?? [])
    for (const shard of this.#shards) for (const name of await this.#namesIn(shard)) present.add(name)
    const missing = this.names().filter((name) => !present.has(name))
    for (const name of missing) this.forget(name)
    return missing
  }

  async #shardsOnDisk(): Promise<string[]> {
    return (await this.#options.disk.readdir(this.#dir)).filter((shard) => /^[0-9a-f]{2}$/.test(shard))
  }

  /** Another process may remove a subfolder, or a file, at any time; any other error says nothing about what is there. */
  async #namesIn(shard: string): Promise<string[]> {
    return (await this.#options.disk.readdir(join(this.#dir, shard)).catch(ignoreMissing)) ?? []
  }

  async #listFolder(): Promise<{ name: string; bytes: number; usedAtMs: number }[]> {
    const found: { name: string; bytes: number; usedAtMs: number }[] = []
    const { disk } = this.#options
    const shards = await this.#shardsOnDisk()
    this.#shards = new Set(shards)
    const work = async (): Promise<void> => {
      for (let shard = shards.pop(); shard !== undefined; shard = shards.pop()) {
        for (const name of await this.#namesIn(shard)) {
          if (pathKeyInName(name) === undefined) continue
          const stats = await disk.stat(join(this.#dir, shard, name)).catch(ignoreMissing)
          if (stats !== undefined) found.push({ name, bytes: stats.blocks * 512, usedAtMs: stats.mtimeMs })
        }
      }
    }
    await Promise.all(Array.from({ length: scanConcurrency }, work))
    return found
  }

  #list(name: string, bytes: number): void {
    const pathKey = pathKeyInName(name)
    if (pathKey === undefined) return
    this.#bytes.set(name, Math.max(1, bytes))
    if (!this.#bytes.has(name)) return
    const names = this.#names.get(pathKey)
    if (names === undefined) this.#names.set(pathKey, new Set([name]))
    else names.add(name)
  }

  #unlist(name: string): void {
    const pathKey = pathKeyInName(name) ?? ''
    const names = this.#names.get(pathKey)
    names?.delete(name)
    if (names?.size === 0) this.#names.delete(pathKey)
  }

  async #removeEvicted(): Promise<void> {
    while (this.#options.evicts && this.#bytes.size > maxFiles) this.#bytes.pop()
    const evicted = this.#evicted
    this.#evicted = []
    for (const name of evicted) {
      this.#options.onEvict(name)
      await unlinkIfThere(this.pathOf(name), this.#options.disk)
    }
  }
}
