// The documents of locks in the service: looked up by their paths, made, and removed. Those of this drive are in a file of the state
// folder, so that the next run removes what a kill has left.
//
//   { "/letters/.~lock.a.xlsx#.until-2026-11-28T00Z.txt": "87@2026-11-27T15:20:11.482Z" }

import { ApiError, isOutcomeUnknown } from '../../api/errors.ts'
import type { CallOptions, Files, RemoteFile, Upload } from '../../api/types.ts'
import { fingerprintOf, isSameVersion } from '../../content/fingerprint.ts'
import { mayMeanMissing } from '../../content/remote-lookup.ts'
import type { Log } from '../../log.ts'
import { nameOf } from '../../path.ts'
import type { Disk } from '../../world/disk.ts'
import { documentOf, timesAt } from './lock-documents.ts'

/** No program waits longer for a call about a lock (ms). */
const deadline: CallOptions = { deadlineMs: 5_000 }
/** Bytes of a lock that are read. */
const mostBytes = 64 * 1024

export interface StoredLocksOptions {
  readonly files: Files
  readonly disk: Disk
  /** File of the state folder. */
  readonly file: string
  /** Epoch ms. */
  readonly now: () => number
  readonly log: Log
}

/** A document in the service that stands for a lock. */
export interface Found {
  readonly path: string
  readonly record: RemoteFile
}

/** A document of this drive. */
interface Ours {
  /** Undefined where no answer came: it may be there, or not. */
  readonly fingerprint: string | undefined
  /** Undefined for a document of an earlier run. */
  readonly text: string | undefined
}

export class StoredLocks {
  readonly #options: StoredLocksOptions
  readonly #ours: Map<string, Ours>

  /** A file that cannot be read counts as empty: what it names is over within a day. */
  constructor(options: StoredLocksOptions) {
    this.#options = options
    this.#ours = this.#read()
  }

  /** Paths of this drive's documents. */
  get ours(): readonly string[] {
    return [...this.#ours.keys()]
  }

  isOurs({ path, record }: Found): boolean {
    const ours = this.#ours.get(path)
    if (ours === undefined) return false
    return ours.fingerprint === undefined || isSameVersion(ours.fingerprint, fingerprintOf(record))
  }

  /** The text that this drive has stored at the path; undefined for none. */
  textAt(path: string): string | undefined {
    const ours = this.#ours.get(path)
    return ours?.fingerprint === undefined ? undefined : ours.text
  }

  /** The latest document of a lock that counts now. Throws ApiError, NetworkError. */
  async find(lock: string): Promise<Found | undefined> {
    const [until, next] = timesAt(this.#options.now())
    const [latest, present] = await Promise.all([
      this.#at(documentOf(lock, next)),
      this.#at(documentOf(lock, until)),
    ])
    return latest ?? present
  }

  /** The text of a lock. Throws ApiError, NetworkError. */
  async text({ path, record: { url, size } }: Found): Promise<string> {
    if (url === undefined) return ''
    const range = { offset: 0, length: Math.min(size ?? mostBytes, mostBytes) }
    if (range.length === 0) return ''
    const { chunks } = await this.#options.files.download(url, path, range, deadline)
    const pieces: Uint8Array[] = []
    for await (const chunk of chunks) pieces.push(Buffer.from(chunk))
    return Buffer.concat(pieces).toString()
  }

  /** Stores a document. False if another stands there. Throws ApiError, NetworkError. */
  async make(path: string, text: string): Promise<boolean> {
    const { files } = this.#options
    const before = this.#ours.get(path)
    try {
      const record = await files.upload(path, uploadOf(path, text), deadline)
      this.#note(path, { fingerprint: fingerprintOf(record), text })
      return true
    } catch (error) {
      if (isOutcomeUnknown(error)) this.#note(path, { fingerprint: undefined, text })
      if (!(error instanceof ApiError) || error.status !== 409) throw error
      const found = before === undefined ? undefined : await this.#at(path)
      const isOurs = found !== undefined && (await this.text(found)) === before?.text
      this.#note(path, isOurs ? { fingerprint: fingerprintOf(found.record), text: before?.text } : undefined)
      return isOurs
    }
  }

  /** Stores another text in a document of ours, while the one before it holds the lock. Throws ApiError, NetworkError. */
  async rewrite(path: string, text: string): Promise<void> {
    const { files } = this.#options
    const record = await files.replace(path, uploadOf(path, text), deadline)
    this.#note(path, { fingerprint: fingerprintOf(record), text })
  }

  /** Removes a document of ours, if it still is. Throws ApiError, NetworkError. */
  async remove(path: string): Promise<void> {
    const ours = this.#ours.get(path)
    if (ours === undefined) return
    const found = await this.#at(path)
    const isStill = found !== undefined && this.isOurs(found)
    const isSure = isStill && (ours.fingerprint !== undefined || (await this.text(found)) === ours.text)
    if (isSure) await this.#delete(path)
    this.#note(path, undefined)
  }

  /** Removes all documents of a lock that count, whoever made them. Throws ApiError, NetworkError. */
  async clear(lock: string): Promise<void> {
    for (const time of timesAt(this.#options.now())) {
      const path = documentOf(lock, time)
      await this.#delete(path)
      this.#note(path, undefined)
    }
  }

  /** Removes a document that is over. Never throws. */
  async tidy(path: string): Promise<void> {
    await this.#delete(path).catch(() => {})
  }

  async #at(path: string): Promise<Found | undefined> {
    try {
      const record = await this.#options.files.get(path, deadline)
      return record.kind === 'file' ? { path, record } : undefined
    } catch (error) {
      if (mayMeanMissing(error)) return undefined
      throw error
    }
  }

  async #delete(path: string): Promise<void> {
    const { files } = this.#options
    await files.delete(path, { ...deadline, attempts: 1 }).catch((error: unknown) => {
      if (!mayMeanMissing(error)) throw error
    })
  }

  #note(path: string, ours: Ours | undefined): void {
    if (ours === undefined && !this.#ours.has(path)) return
    if (ours === undefined) this.#ours.delete(path)
    else this.#ours.set(path, ours)
    const { disk, file, log } = this.#options
    try {
      if (this.#ours.size === 0) return disk.unlinkSync(file)
      const known = [...this.#ours].filter(([, { fingerprint }]) => fingerprint !== undefined)
      const entries = known.map(([each, { fingerprint }]) => [each, fingerprint])
      disk.writeFileSync(`${file}.new`, `${JSON.stringify(Object.fromEntries(entries))}\n`, { mode: 0o600 })
      disk.renameSync(`${file}.new`, file)
    } catch (error) {
      log.warn({ error: String(error) }, 'what is locked cannot be noted: after a kill it stays for a day')
    }
  }

  #read(): Map<string, Ours> {
    try {
      const entries = Object.entries(
        JSON.parse(this.#options.disk.readFileSync(this.#options.file, 'utf8')) as object,
      )
      const ours = (fingerprint: unknown): Ours => ({ fingerprint: String(fingerprint), text: undefined })
      return new Map(entries.map(([path, fingerprint]) => [path, ours(fingerprint)]))
    } catch {
      return new Map()
    }
  }
}

function uploadOf(path: string, text: string): Upload {
  const bytes = Buffer.from(text)
  return {
    mimetype: 'text/plain',
    filename: nameOf(path),
    content: {
      kind: 'bytes',
      size: bytes.length,
      async *open() {
        yield bytes
      },
    },
  }
}
