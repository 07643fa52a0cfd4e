// The contents of a service with several servers ("nodes"). A table lists them (`../store/postgres/blobs.ts`); small ones are
// in it, larger ones in the backend under random keys. Only rows of that table are locked, and a content to which a row
// referred within the last day (`graceMs`) is never removed.

import { Readable } from 'node:stream'
import { setTimeout as sleep } from 'node:timers/promises'
import { ServiceError } from '../service-error.ts'
import type { ChangeResult } from '../store/changes.ts'
import { isUniqueViolation } from '../store/transact.ts'
import { type WholeContent, adopt, findBlob, renewGrace, changeKey } from '../store/postgres/blobs.ts'
import type { BlobWriter, DownloadHeaders, StagedBlob } from './backend.ts'
import type { Contents, FileOfContent } from './contents.ts'
import { stateOf } from './intact.ts'
import { SmallBlob, SpillingWriter, smallBytes } from './small-blob.ts'
import { sweepOnce, type SharedContentsParts } from './sweep-shared.ts'

/** Shorter ranges are read into one buffer, which is much cheaper than a stream. */
const wholeBytes = 1024 * 1024
/** Sweeps may be frequent: most are one query of an index. */
const sweepsInGrace = 96

export class SharedContents implements Contents {
  readonly #parts: SharedContentsParts

  constructor(parts: SharedContentsParts) {
    this.#parts = parts
  }

  stage(memoryBytes: number = smallBytes): BlobWriter {
    return new SpillingWriter(this.#parts.backend, memoryBytes)
  }

  async open(sha256: string, start: number, end: number): Promise<Readable | undefined> {
    const content = await this.#find(sha256, start, end)
    if (Buffer.isBuffer(content)) return Readable.from([content])
    return content === undefined ? undefined : this.#parts.backend.stream(content.key, start, end)
  }

  async load(sha256: string, start: number, end: number): Promise<Buffer | Readable | undefined> {
    const content = await this.#find(sha256, start, end)
    if (content === undefined || Buffer.isBuffer(content)) return content
    const { backend } = this.#parts
    return end - start < wholeBytes
      ? backend.read(content.key, start, end)
      : backend.stream(content.key, start, end)
  }

  async linkTo(sha256: string, headers: DownloadHeaders, now: number): Promise<string | undefined> {
    const { backend, store } = this.#parts
    if (backend.linkTo === undefined) return undefined
    const key = (await findBlob(store, sha256))?.key ?? undefined
    return key === undefined ? undefined : backend.linkTo(key, headers, now)
  }

  async commitFile(staged: StagedBlob, file: FileOfContent): Promise<ChangeResult<'createFile'>> {
    const content = await this.#publish(staged)
    await this.#replaceDamaged(content)
    return this.#removeIfSpare(content, () => this.#parts.commits.run('createFile', { ...file, content }))
  }

  async keep<Result>(staged: StagedBlob, record: () => Promise<Result>): Promise<Result> {
    const { store, now } = this.#parts
    const content = await this.#publish(staged)
    await this.#replaceDamaged(content)
    await this.#removeIfSpare(content, () => adopt(store, content, now()))
    return record()
  }

  async share<Result>(sha256: string, record: () => Promise<Result>): Promise<Result | undefined> {
    const { store, now } = this.#parts
    const isRecorded = await renewGrace(store, sha256, now())
    // A row outlives its object where the bucket lost it.
    return isRecorded && (await this.load(sha256, 0, 0)) !== undefined ? record() : undefined
  }

  /** Does nothing: triggers set `unreferenced_since`, by which the sweep finds contents to remove. */
  collect(): void {}

  async whenIdle(): Promise<void> {}

  /** Repeats until `signal` aborts: another node may leave something to remove at any time. */
  async sweep(signal: AbortSignal): Promise<void> {
    const { graceMs, log } = this.#parts
    while (!signal.aborted) {
      try {
        await sweepOnce(this.#parts, signal)
      } catch (error) {
        if (!signal.aborted)
          log.warn({ error }, 'could not look for content nothing refers to; it is tried again')
      }
      await sleep(Math.max(1_000, graceMs / sweepsInGrace), undefined, { signal, ref: false }).catch(
        () => undefined,
      )
    }
  }

  async #publish(staged: StagedBlob): Promise<WholeContent> {
    const { sha256, size } = staged
    if (staged instanceof SmallBlob) return { sha256, size, bytes: staged.bytes }
    const key = await this.#parts.backend.publish(staged)
    // A sweep removes blobs without a row that are older than `graceMs`: the row must be there well before that.
    const adoptUntilMs = (staged.begunMs ?? performance.now()) + this.#parts.graceMs / 2
    return { sha256, size, key, adoptUntilMs }
  }

  /** Replaces an earlier blob of this content if it is damaged. An intact one stays, for other nodes may be reading it. */
  async #replaceDamaged({ sha256, size, key }: WholeContent): Promise<void> {
    const { backend, store, log } = this.#parts
    const former = key === undefined ? undefined : (await findBlob(store, sha256))?.key
    if (key === undefined || former === undefined || former === null) return
    const state = await stateOf({ sha256, size }, async (start, end) => backend.stream(former, start, end))
    if (state === 'intact') return
    log.error({ sha256, key: former }, `a content is ${state}: what was uploaded now takes its place`)
    if (await changeKey(store, sha256, former, key)) await backend.remove(former)
  }

  /**
   * Runs `work`, then removes the uploaded blob at once if the table does not refer to it: an earlier one stays, or the work
   * was refused. Where the outcome is unknown, the blob is left to the sweep.
   */
  async #removeIfSpare<Result>({ sha256, key }: WholeContent, work: () => Promise<Result>): Promise<Result> {
    let isKnown = false
    try {
      const result = await work()
      isKnown = true
      return result
    } catch (error) {
      isKnown = isUniqueViolation(error) || (error instanceof ServiceError && error.statusCode < 500)
      throw error
    } finally {
      if (isKnown && key !== undefined) await this.#removeSpare(sha256, key)
    }
  }

  async #removeSpare(sha256: string, key: string): Promise<void> {
    try {
      if ((await findBlob(this.#parts.store, sha256))?.key !== key) await this.#parts.backend.remove(key)
    } catch (error) {
      this.#parts.log.warn({ error }, 'could not remove content that was here already; the sweep does')
    }
  }

  /** Returns a small content itself, the key of a larger one, undefined for none. */
  async #find(
    sha256: string,
    start: number,
    end: number,
  ): Promise<Buffer | { readonly key: string } | undefined> {
    const row = await findBlob(this.#parts.store, sha256)
    if (row === undefined) return undefined
    return row.key === null ? row.bytes!.subarray(start, end + 1) : { key: row.key }
  }
}
