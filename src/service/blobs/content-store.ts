// The contents of a service with one server. A content is kept as long as a row of some table refers to its hash. Adding such a
// row takes the lock of the hash shared, and removing the content takes it exclusively: otherwise a deletion could remove
// bytes that a simultaneous upload of the same content relies on.

import { Readable } from 'node:stream'
import type { Log } from '../../log.ts'
import type { Store } from '../store/database.ts'
import type { ChangeResult } from '../store/changes.ts'
import type { Commits } from '../store/opened-store.ts'
import { listSmall, readSmall } from '../store/small-contents.ts'
import type { BlobBackend, BlobWriter, StagedBlob } from './backend.ts'
import type { Contents, FileOfContent } from './contents.ts'
import { KeyedLock } from './keyed-lock.ts'
import { SmallBlob, SpillingWriter, smallBytes } from './small-blob.ts'

/** Returns those of the hashes that rows of its tables refer to. */
export type BlobOwner = (sha256s: readonly string[]) => Promise<readonly string[]>

/** Shorter ranges are read into one buffer, which is much cheaper than a stream. */
const wholeBytes = 1024 * 1024
/** Contents checked, locked and removed together: this blocks the event loop for about 10 ms. */
const batchBlobs = 200

export class ContentStore implements Contents {
  readonly #backend: BlobBackend
  readonly #store: Store
  readonly #commits: Commits
  readonly #log: Log
  readonly #lock = new KeyedLock()
  readonly #owners: BlobOwner[] = []
  /** The removals that `collect` has begun, batch after batch. */
  #collected: Promise<void> = Promise.resolve()

  constructor(backend: BlobBackend, store: Store, commits: Commits, log: Log) {
    this.#backend = backend
    this.#store = store
    this.#commits = commits
    this.#log = log
  }

  /** Registers the owner of a table with hashes; each is asked before a content is removed. Call it before `sweep`. */
  addOwner(owner: BlobOwner): void {
    this.#owners.push(owner)
  }

  stage(memoryBytes: number = smallBytes): BlobWriter {
    return new SpillingWriter(this.#backend, memoryBytes)
  }

  async open(sha256: string, start: number, end: number): Promise<Readable | undefined> {
    const small = await this.#readSmall(sha256, start, end)
    return small === undefined ? this.#backend.stream(sha256, start, end) : Readable.from([small])
  }

  async load(
    sha256: string,
    start: number,
    end: number,
    pieceBytes: number = wholeBytes,
  ): Promise<Buffer | Readable | undefined> {
    const small = await this.#readSmall(sha256, start, end)
    if (small !== undefined) return small
    return end - start < pieceBytes
      ? this.#backend.read(sha256, start, end)
      : this.#backend.stream(sha256, start, end, pieceBytes)
  }

  commitFile(staged: StagedBlob, file: FileOfContent): Promise<ChangeResult<'createFile'>> {
    return this.#recording(staged.sha256, async () => {
      if (staged instanceof SmallBlob)
        return this.#commits.run('createFile', { ...file, small: rowOf(staged) })
      await this.#backend.publish(staged)
      return this.#commits.run('createFile', file)
    })
  }

  keep<Result>(staged: StagedBlob, record: () => Promise<Result>): Promise<Result> {
    return this.#recording(staged.sha256, async () => {
      if (staged instanceof SmallBlob) await this.#commits.run('addSmall', rowOf(staged))
      else await this.#backend.publish(staged)
      return record()
    })
  }

  share<Result>(sha256: string, record: () => Promise<Result>): Promise<Result | undefined> {
    return this.#lock.share(sha256, async () => ((await this.#has(sha256)) ? record() : undefined))
  }

  collect(sha256s: Iterable<string>): void {
    const unique = [...new Set(sha256s)]
    for (let at = 0; at < unique.length; at += batchBlobs) {
      const batch = unique.slice(at, at + batchBlobs)
      this.#collected = this.#collected
        .then(() => this.#removeUnused(batch))
        .catch((error: unknown) => {
          this.#log.error({ error }, 'could not remove content nothing refers to; the next start tries again')
        })
    }
  }

  async whenIdle(): Promise<void> {
    await this.#collected
  }

  /** Removes every content that no row refers to, also of uploads that a crash ended between `publish` and their row. */
  async sweep(signal: AbortSignal): Promise<void> {
    for await (const sha256s of this.#list()) {
      for (let at = 0; at < sha256s.length && !signal.aborted; at += batchBlobs) {
        await this.#removeUnused(sha256s.slice(at, at + batchBlobs))
      }
      if (signal.aborted) return
    }
  }

  /** Runs `record` under the lock; if it fails, the content may have no row, and is collected. */
  async #recording<Result>(sha256: string, record: () => Promise<Result>): Promise<Result> {
    try {
      return await this.#lock.share(sha256, record)
    } catch (error) {
      this.collect([sha256])
      throw error
    }
  }

  async #removeUnused(sha256s: readonly string[]): Promise<void> {
    // Database and disk are synchronous: without this turn of the event loop other requests would wait for all batches.
    await new Promise((resolve) => setImmediate(resolve))
    await this.#lock.exclusive(sha256s, async () => {
      const owned = await Promise.all(this.#owners.map((owner) => owner(sha256s)))
      const used = new Set(owned.flat())
      const unused = sha256s.filter((sha256) => !used.has(sha256))
      if (unused.length === 0) return
      const small = new Set(await this.#commits.run('removeSmall', { sha256s: unused }))
      for (const sha256 of unused) if (!small.has(sha256)) await this.#backend.remove(sha256)
    })
  }

  /** Reads from the database, where small contents are; skips the query for ranges that end beyond any small content. */
  async #readSmall(sha256: string, start: number, end: number): Promise<Buffer | undefined> {
    if (end >= smallBytes) return undefined
    const bytes = await readSmall(this.#store, sha256)
    return bytes?.subarray(start, end + 1)
  }

  async #has(sha256: string): Promise<boolean> {
    return (await this.#backend.has(sha256)) || (await readSmall(this.#store, sha256)) !== undefined
  }

  async *#list(): AsyncGenerator<string[]> {
    yield* this.#backend.list()
    let last = ''
    for (;;) {
      const sha256s = await listSmall(this.#store, last, batchBlobs)
      if (sha256s.length === 0) return
      yield sha256s
      last = sha256s.at(-1)!
    }
  }
}

function rowOf({ sha256, bytes }: SmallBlob): { sha256: string; bytes: Buffer } {
  return { sha256, bytes }
}
