// Gets an intention's content to its path: from the spool, or by a copy within the service.

import type { Mimetype } from '../../api/mimetypes.ts'
import { noContent } from '../../api/readable-content.ts'
import type { Files, RemoteFile, Upload } from '../../api/types.ts'
import { ErrnoError } from '../../errno-error.ts'
import type { Log } from '../../log.ts'
import { nameOf } from '../../path.ts'
import { checked, digested, digestOf, isSameDigest, type Digest } from '../digest.ts'
import { agrees, fingerprintOf, mayBe, mayComeAgain } from '../fingerprint.ts'
import type { Intention } from '../intention.ts'
import type { Reader } from '../read/reader.ts'
import { lookUp, whole } from '../remote-lookup.ts'
import type { Spool } from '../spool/spool.ts'
import type { SpoolFile } from '../spool/spool-file.ts'
import { contentOf, damaged, otherThan } from './carried.ts'
import { isUriRefusal } from './conflict.ts'
import { countSent } from './count-sent.ts'
import type { Timers } from '../../world/clock.ts'
import { untilAnswered } from './last-call.ts'
import type { Questions } from './questions.ts'
import { storeAt, toldType } from './store-at.ts'

export interface UploadsOptions {
  readonly files: Files
  readonly timers: Timers
  readonly spool: Spool
  readonly reader: Reader
  readonly log: Log
  readonly ask: Pick<Questions, 'mimetypeOf'>
  /** Journals the intention's changed fields. */
  save(intention: Intention): void
}

export interface Uploading {
  readonly signal: AbortSignal
  /** Hears what was sent in full. */
  readonly onSent: (digest: Digest) => void
  /** With the DELETE of what stands there. */
  readonly isTogether: boolean
  /** The version there is still wanted: the upload only asks whether the service would take the one that replaces it. */
  readonly isAsking: boolean
}

export class Uploads {
  readonly #options: UploadsOptions

  constructor(options: UploadsOptions) {
    this.#options = options
  }

  /** Before a version goes, what takes its place must be there, be what was saved, and be of a type that can be sent. */
  async check(intention: Intention, signal: AbortSignal): Promise<void> {
    const { path, source, spool, size, digest } = intention
    if (spool !== undefined) {
      const content = contentOf(this.#options.spool, intention, spool)
      if (digest !== undefined) {
        const found = await digestOf(content.stream())
        if (!isSameDigest(found, digest)) throw damaged(path, otherThan(digest, found))
      } else if (size !== undefined && content.size !== size)
        throw damaged(path, `${content.size} bytes, and ${size} were saved`)
      await this.#options.ask.mimetypeOf(path, content)
      return
    }
    const original = source === undefined ? undefined : await lookUp(this.#options.files, source, { signal })
    if (original?.kind !== 'file') {
      throw new ErrnoError('ENOENT', `${source}: gone from the service, so ${path} cannot be made from it`)
    }
    await this.#mimetypeOfCopy(path, original)
  }

  /** Gets the content to its path. Throws what the service says; 409 where something stands there. */
  async send(intention: Intention, how: Uploading): Promise<RemoteFile> {
    // A service that tells time by the second may tell it from what stood there by nothing: that is read by nobody any more,
    // also where this machine ends before the answer comes.
    const { path, base } = intention
    const forget = (): Promise<void> => this.#options.reader.forget(path, { isSure: mayComeAgain(base) })
    if (!how.isAsking) await forget()
    const record = await this.#sent(intention, how)
    if (how.isAsking) await forget()
    return record
  }

  async #sent(intention: Intention, how: Uploading): Promise<RemoteFile> {
    if (intention.spool !== undefined)
      return this.#uploadSpool(intention, contentOf(this.#options.spool, intention, intention.spool), how)
    if (intention.source === undefined)
      throw new ErrnoError('ENOENT', `${intention.path}: what it was to be made from is gone`)
    return this.#copyWithinService(intention, intention.source, how)
  }

  /** Sends the content as it was journaled: any other is refused here, and the service keeps what it has. */
  async #uploadSpool(
    intention: Intention,
    content: SpoolFile,
    { signal, onSent, isTogether }: Uploading,
  ): Promise<RemoteFile> {
    const { path } = intention
    let isSent = false
    const onAllSent = (sent: Digest): void => {
      isSent = true
      onSent(sent)
    }
    // A copy through this machine has no row that could say what it is.
    const digest = intention.spool === undefined ? content.digest : intention.digest
    const size = digest?.size ?? content.size
    let damage: Error | undefined
    const onMismatch = (found: Digest): Error => (damage = damaged(path, otherThan(digest ?? found, found)))
    const open = (): AsyncIterable<Uint8Array> => {
      isSent = false
      return countSent(
        intention,
        digest === undefined
          ? digested(content.stream(), onAllSent)
          : checked(content.stream(), digest, onMismatch, onAllSent),
      )
    }
    const mimetype = await this.#options.ask.mimetypeOf(path, content)
    const upload: Upload = { mimetype, filename: nameOf(path), content: { kind: 'bytes', size, open } }
    const { files, timers } = this.#options
    const sending = isTogether
      ? untilAnswered(timers, signal, (cut) => files.replace(path, upload, { signal: cut }))
      : // A part of a body is never stored: its Content-Length says so.
        untilAnswered(
          timers,
          signal,
          (cut) => files.upload(path, upload, { signal: cut }),
          () => !isSent,
        )
    const record = await sending.catch((error: unknown) => {
      throw damage ?? error
    })
    return whole(files, path, await this.#checked(intention, record, size, signal), signal)
  }

  /**
   * The stored document must be as long as what was sent, wherever the service tells its size. It is ours all the
   * same: the next attempt replaces it.
   */
  async #checked(
    intention: Intention,
    stored: RemoteFile,
    size: number | undefined,
    signal: AbortSignal,
  ): Promise<RemoteFile> {
    if (stored.size === undefined || size === undefined || stored.size === size) return stored
    const { path } = intention
    intention.base = fingerprintOf(await whole(this.#options.files, path, stored, signal))
    this.#options.save(intention)
    throw new ErrnoError('EIO', `${path}: sent ${size} bytes, the service stored ${stored.size}`)
  }

  /** The service fetches its own URL; where it refuses that, the bytes go through us. */
  async #copyWithinService(intention: Intention, source: string, how: Uploading): Promise<RemoteFile> {
    const { files, timers } = this.#options
    const { path } = intention
    const { signal } = how
    const original = await lookUp(files, source, { signal })
    if (original?.kind !== 'file')
      throw new ErrnoError('ENOENT', `${source}: gone from the service, so ${path} cannot be made from it`)
    const mimetype = await this.#mimetypeOfCopy(path, original)
    const version = { path: source, fingerprint: fingerprintOf(original), size: original.size }
    const { sourceFingerprint } = intention
    if (sourceFingerprint !== undefined && !mayBe(original, sourceFingerprint))
      intention.movedForeignVersion = true
    if (original.url !== undefined) {
      try {
        const { url } = original
        const stored = await storeAt({ files, timers, path, signal }, mimetype, { kind: 'uri', url })
        await this.#checked(intention, stored, original.size, signal)
        const fresh = await lookUp(files, path, { signal }).catch((error: unknown) => {
          // Stored, and not seen yet: what is found there next time is our own.
          intention.isOutcomeUnknown = true
          this.#options.save(intention)
          throw error
        })
        if (fresh?.kind !== 'file')
          throw new ErrnoError('EIO', `${path}: the service accepted a copy and does not show it`)
        if (!agrees(stored, fresh))
          throw new ErrnoError('ESTALE', `${path}: the copy is not what stands there any more`)
        const isTold = stored.size !== undefined || stored.modifiedAt !== undefined
        const record = isTold ? await this.#checked(intention, fresh, original.size, signal) : fresh
        this.#options.reader.moved(version, { path, fingerprint: fingerprintOf(record), size: record.size })
        return record
      } catch (error) {
        if (!isUriRefusal(error)) throw error
        this.#options.log.info(
          { path, source },
          'the service refuses copies by uri: copying through this machine',
        )
      }
    }
    const through = this.#options.spool.createTemporary()
    this.#options.reader.looked(source, original)
    try {
      await through.use((fd) => this.#options.reader.copyTo(version, fd, { signal }))
      through.remeasure()
      await through.learnDigest()
      return await this.#uploadSpool(intention, through, { ...how, isTogether: false })
    } finally {
      await this.#options.spool.remove(through.id)
    }
  }

  /** Its original's, where that is told. */
  async #mimetypeOfCopy(path: string, { mimetype }: RemoteFile): Promise<Mimetype> {
    return toldType(mimetype) ?? this.#options.ask.mimetypeOf(path, noContent)
  }
}
