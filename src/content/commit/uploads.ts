// Uploads of an intention's content to its path: from the spool, or by a copy within the service.

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
import { lookUp, completeRecord } from '../remote-lookup.ts'
import type { Spool } from '../spool/spool.ts'
import type { SpoolFile } from '../spool/spool-file.ts'
import { contentOf, damagedContent, mismatchDetail } from './carried.ts'
import { isUriRefusal } from './conflict.ts'
import { countSent } from './count-sent.ts'
import type { Timers } from '../../world/clock.ts'
import { untilAnswered } from './last-call.ts'
import type { Questions } from './questions.ts'
import { storeAt, sendableType } from './store-at.ts'

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
  /** Called with the digest of content that was sent in full. */
  readonly onSent: (digest: Digest) => void
  /** Sent together with the DELETE of the version there. */
  readonly isTogether: boolean
  /** Sent while the old version still stands, to learn from a 409 (name taken) that the service would accept the new one. */
  readonly isAsking: boolean
}

export class Uploads {
  readonly #options: UploadsOptions

  constructor(options: UploadsOptions) {
    this.#options = options
  }

  /** Throws unless the content exists, is what was saved, and has a type that can be sent. Called before the old version goes. */
  async check(intention: Intention, signal: AbortSignal): Promise<void> {
    const { path, source, spool, size, digest } = intention
    if (spool !== undefined) {
      const content = contentOf(this.#options.spool, intention, spool)
      if (digest !== undefined) {
        const found = await digestOf(content.stream())
        if (!isSameDigest(found, digest)) throw damagedContent(path, mismatchDetail(digest, found))
      } else if (size !== undefined && content.size !== size)
        throw damagedContent(path, `${content.size} bytes, and ${size} were saved`)
      await this.#options.ask.mimetypeOf(path, content)
      return
    }
    const original = source === undefined ? undefined : await lookUp(this.#options.files, source, { signal })
    if (original?.kind !== 'file') {
      throw new ErrnoError('ENOENT', `${source}: gone from the service, so ${path} cannot be made from it`)
    }
    await this.#mimetypeOfCopy(path, original)
  }

  /** Stores the content at its path. Throws the service's errors; 409 where a document stands there. */
  async send(intention: Intention, uploading: Uploading): Promise<RemoteFile> {
    // The new version may get the fingerprint of the old one, if times are in whole seconds. So cached blocks of the old one are
    // removed, and must stay so if this machine stops before the answer comes. With `isAsking` it usually fails: then they stay.
    const { path, base } = intention
    const forget = (): Promise<void> => this.#options.reader.forget(path, { isSure: mayComeAgain(base) })
    if (!uploading.isAsking) await forget()
    const record = await this.#sent(intention, uploading)
    if (uploading.isAsking) await forget()
    return record
  }

  async #sent(intention: Intention, uploading: Uploading): Promise<RemoteFile> {
    if (intention.spool !== undefined)
      return this.#uploadSpool(
        intention,
        contentOf(this.#options.spool, intention, intention.spool),
        uploading,
      )
    if (intention.source === undefined)
      throw new ErrnoError('ENOENT', `${intention.path}: what it was to be made from is gone`)
    return this.#copyWithinService(intention, intention.source, uploading)
  }

  /** Sends the content if it is as journaled. Otherwise fails before its end, so that the service stores nothing. */
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
    // The digest of a copy through this machine is in no row.
    const digest = intention.spool === undefined ? content.digest : intention.digest
    const size = digest?.size ?? content.size
    let damage: Error | undefined
    const onMismatch = (found: Digest): Error =>
      (damage = damagedContent(path, mismatchDetail(digest ?? found, found)))
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
    return completeRecord(files, path, await this.#checkSize(intention, record, size, signal), signal)
  }

  /**
   * Throws EIO if the stored document is not as long as the content sent, where the service gives its size. The document
   * is ours all the same: the next attempt replaces it.
   */
  async #checkSize(
    intention: Intention,
    stored: RemoteFile,
    size: number | undefined,
    signal: AbortSignal,
  ): Promise<RemoteFile> {
    if (stored.size === undefined || size === undefined || stored.size === size) return stored
    const { path } = intention
    intention.base = fingerprintOf(await completeRecord(this.#options.files, path, stored, signal))
    this.#options.save(intention)
    throw new ErrnoError('EIO', `${path}: sent ${size} bytes, the service stored ${stored.size}`)
  }

  /** Has the service copy from its own URL; if it refuses that, copies the bytes through this machine. */
  async #copyWithinService(intention: Intention, source: string, uploading: Uploading): Promise<RemoteFile> {
    const { files, timers } = this.#options
    const { path } = intention
    const { signal } = uploading
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
        const stored = await storeAt({ files, timers, path, signal }, mimetype, { kind: 'uri', url, source })
        await this.#checkSize(intention, stored, original.size, signal)
        const fresh = await lookUp(files, path, { signal }).catch((error: unknown) => {
          // Stored, but not checked: the document found there next time is our own.
          intention.isOutcomeUnknown = true
          this.#options.save(intention)
          throw error
        })
        if (fresh?.kind !== 'file')
          throw new ErrnoError('EIO', `${path}: the service accepted a copy and does not show it`)
        if (!agrees(stored, fresh))
          throw new ErrnoError('ESTALE', `${path}: the copy is not what stands there any more`)
        const hasVersion = stored.size !== undefined || stored.modifiedAt !== undefined
        const record = hasVersion ? await this.#checkSize(intention, fresh, original.size, signal) : fresh
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
      await through.fill((fd) => this.#options.reader.copyTo(version, fd, { signal }))
      await through.learnDigest()
      return await this.#uploadSpool(intention, through, { ...uploading, isTogether: false })
    } finally {
      await this.#options.spool.remove(through.id)
    }
  }

  /** The original's type, if its record has one; else by the name. */
  async #mimetypeOfCopy(path: string, { mimetype }: RemoteFile): Promise<Mimetype> {
    return sendableType(mimetype) ?? this.#options.ask.mimetypeOf(path, noContent)
  }
}
