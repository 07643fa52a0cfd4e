// The segments that are open now: a bounded number of files, the least recently used closed first. The content of a file is
// the business of segment.ts, and which files exist that of block-index.ts.

import type { Disk } from '../../world/disk.ts'
import type { World } from '../../world/world.ts'
import type { Clock } from '../../world/clock.ts'
import { dirname } from 'node:path'
import { LRUCache } from 'lru-cache'
import type { BlockIndex } from './block-index.ts'
import { Segment } from './segment.ts'
import { segmentName, segmentShape } from './stored-version.ts'
import type { SegmentId, StoredVersion } from './stored-version.ts'

const maxOpen = 128

export class OpenSegments {
  readonly #index: BlockIndex
  readonly #clock: Clock
  readonly #disk: Disk
  readonly #open: LRUCache<string, Segment>
  readonly #opening = new Map<string, Promise<Segment | undefined>>()

  constructor(index: BlockIndex, { clock, disk }: Pick<World, 'clock' | 'disk'>) {
    this.#index = index
    this.#clock = clock
    this.#disk = disk
    this.#open = new LRUCache<string, Segment>({
      max: maxOpen,
      dispose: (segment) => void segment.close().catch(() => {}),
    })
  }

  /** The segment, if it is open. Does not read the disk: 'unknown' if only that could tell. */
  peek(name: string): Segment | 'absent' | 'unknown' {
    const segment = this.#open.get(name)
    if (segment !== undefined) return segment
    return this.#index.has(name) === false ? 'absent' : 'unknown'
  }

  /** Opens the segment; undefined where there is none. */
  async find(version: StoredVersion, id: SegmentId): Promise<Segment | undefined> {
    const name = segmentName(version, id)
    const known = this.peek(name)
    if (known instanceof Segment) return known
    if (known === 'absent') return undefined
    return this.#once(name, async () => {
      try {
        const segment = await Segment.open(
          this.#disk,
          this.#index.pathOf(name),
          segmentShape(version, id),
          false,
        )
        segment.touch(new Date(this.#clock.wall())).catch(() => {})
        return segment
      } catch (error) {
        // A segment that cannot be opened counts as absent, but takes room on the disk all the same.
        if ((error as NodeJS.ErrnoException).code === 'ENOENT') this.#index.forget(name)
        return undefined
      }
    })
  }

  /** Opens the segment, and creates it where missing. Throws the system's errors. */
  async make(version: StoredVersion, id: SegmentId): Promise<Segment> {
    const name = segmentName(version, id)
    const made = await this.#once(name, () =>
      this.inShard(name, (path) => Segment.open(this.#disk, path, segmentShape(version, id), true)),
    )
    return made ?? this.make(version, id)
  }

  /** Calls a function that creates a file, after creating its subfolder if that is not known to exist. */
  async inShard<T>(name: string, make: (path: string) => Promise<T>): Promise<T> {
    const path = this.#index.pathOf(name)
    if (!this.#index.hasShard(name)) await this.#makeShard(name)
    try {
      return await make(path)
    } catch (error) {
      if ((error as NodeJS.ErrnoException).code !== 'ENOENT') throw error
      // Another process removed the subfolder.
      await this.#makeShard(name)
      return await make(path)
    }
  }

  async #makeShard(name: string): Promise<void> {
    await this.#disk.mkdir(dirname(this.#index.pathOf(name)), { recursive: true, mode: 0o700 })
    this.#index.madeShard(name)
  }

  /** See `Segment.trust`. */
  isTrusted(name: string): boolean {
    return this.#open.peek(name)?.isTrusted === true
  }

  /** Closes a segment, after the reads and writes under way. */
  close(name: string): void {
    this.#open.delete(name)
  }

  closeAll(): void {
    this.#open.clear()
  }

  /** Shares one opening of a file among all calls that want it. */
  #once(name: string, open: () => Promise<Segment | undefined>): Promise<Segment | undefined> {
    const known = this.#opening.get(name)
    if (known !== undefined) return known
    const opening = open()
      .then((segment) => {
        if (segment !== undefined) this.#open.set(name, segment)
        return segment
      })
      .finally(() => this.#opening.delete(name))
    this.#opening.set(name, opening)
    return opening
  }
}
