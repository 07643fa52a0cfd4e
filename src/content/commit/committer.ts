// Makes the service agree with one intention: the only code that replaces, moves or deletes a remote document, with `uploads`,
// `removal`, `replaced-version`, `conflict` and `store-at`, which it alone uses. A run keeps no state for the next: what it finds in
// the service decides what is left to do, so it may be cut off anywhere and run again.

import { ApiError, isOnlyAccepted, isOutcomeUnknown, isTemporary } from '../../api/errors.ts'
import { noContent } from '../../api/readable-content.ts'
import type { RemoteFile } from '../../api/types.ts'
import { ErrnoError } from '../../errno-error.ts'
import { withDigest, type Digest } from '../digest.ts'
import { fingerprintOf, mayBe } from '../fingerprint.ts'
import { isDoubtful, type Intention } from '../intention.ts'
import type { LateFiles } from './late-files.ts'
import { lookUp, mayMeanMissing } from '../remote-lookup.ts'
import { keepTheirs } from './conflict.ts'
import { SizeProbe, isFull, isRefusal } from './size-probe.ts'
import { ReplacedVersion, type ReplacedVersionOptions } from './replaced-version.ts'
import type { Questions } from './questions.ts'
import { Removal, type RemovalOptions } from './removal.ts'
import { Uploads } from './uploads.ts'
import { Ownership, type NameTakenBy } from './ownership.ts'

/** Most rounds of one attempt to replace a document: a 409 after our DELETE means that another client was faster. */
const replaceRounds = 3

/** Content up to this size is held in memory, so that it goes out together with the DELETE of what it replaces (bytes). */
const togetherBytes = 1024 * 1024

export interface CommitterOptions extends ReplacedVersionOptions, RemovalOptions {
  readonly files: LateFiles
  readonly keepConflicts: boolean
  readonly hostName: string
  readonly ask: Pick<Questions, 'preserve' | 'mimetypeOf'>
}

interface Stored {
  readonly record: RemoteFile
  /** True after a copy within the service, which has just looked up the source; false if that was a while ago, or not done. */
  readonly isSourceSeen: boolean
}

interface Attempt {
  /** Content of an upload that found its name taken, until it is known whose version that is. */
  taken: NameTakenBy | undefined
}

export class Committer {
  readonly #options: CommitterOptions
  /** False once a DELETE and the PUT sent with it were carried out in the wrong order, or not at once: they are sent apart then. */
  #keepsOrder = true
  readonly #sizeProbe = new SizeProbe()
  readonly #replacedVersion: ReplacedVersion
  readonly #ownership: Ownership
  readonly #uploads: Uploads
  readonly #removal: Removal

  constructor(options: CommitterOptions) {
    this.#options = options
    this.#replacedVersion = new ReplacedVersion(options)
    this.#ownership = new Ownership(options)
    this.#uploads = new Uploads(options)
    this.#removal = new Removal(options, this.#ownership)
  }

  /** Smallest size that the service has refused (bytes); Infinity if none. */
  get refusedBytes(): number {
    return this.#sizeProbe.refusedBytes
  }

  /** Resolves with the record of the document now at the path (undefined for a delete). */
  async run(intention: Intention, signal: AbortSignal): Promise<RemoteFile | undefined> {
    // Before a version is destroyed, the change must survive a power cut. One that only adds a document need not wait for the disk.
    if (!onlyAdds(intention)) await this.#options.secure(intention)
    switch (intention.kind) {
      case 'put':
        return this.#put(intention, signal)
      case 'delete':
        await this.#removal.asked(intention, signal)
        return undefined
      case 'prune':
        await this.#removal.emptied(intention, signal)
        return undefined
    }
  }

  async #put(intention: Intention, signal: AbortSignal): Promise<RemoteFile> {
    const { path, source } = intention
    const isMove = source !== undefined && source !== path && intention.keepSource !== true
    const isFresh = !intention.isCopied
    const { record, isSourceSeen } = isFresh
      ? await this.#store(intention, signal)
      : { record: await this.#provenRecord(intention, signal), isSourceSeen: false }
    if (!isMove) return record
    // Noted even if the attempt was aborted meanwhile: an intention's content never changes, so the copy is the right one.
    if (isFresh) Object.assign(intention, { isCopied: true, base: fingerprintOf(record) })
    // Also if an earlier attempt made the copy: the journal may have had no space then.
    this.#options.save(intention)
    signal.throwIfAborted()
    // Before the source is deleted, this must survive a power cut: else the next run would look for the bytes at the source.
    await this.#options.secure(intention)
    const expected = isSourceSeen ? undefined : (intention.sourceFingerprint ?? 'unseen')
    await this.#removal.source(intention, source, expected, signal)
    return record
  }

  /** Deletes the source of a refused move, whose content is in the spool by now, because a folder is wanted there. */
  async deleteSource(intention: Intention, signal: AbortSignal): Promise<void> {
    const { source, spool, keepSource, isCopied, sourceFingerprint } = intention
    if (source === undefined || spool === undefined || keepSource === true || isCopied) return
    await this.#options.secure(intention)
    await this.#removal.source(intention, source, sourceFingerprint ?? 'unseen', signal)
  }

  /** True if another document stands where a refused move was to take one away. */
  isSourceReplaced(intention: Intention, signal: AbortSignal): Promise<boolean> {
    return this.#removal.isSourceReplaced(intention, signal)
  }

  /** Returns the record of the copy that an earlier attempt of a move has made. Throws ESTALE if the copy is gone. */
  async #provenRecord(intention: Intention, signal: AbortSignal): Promise<RemoteFile> {
    const { path, base } = intention
    const found = await lookUp(this.#options.files, path, { signal })
    if (found?.kind === 'file') {
      if (base !== undefined && !mayBe(found, base)) intention.movedForeignVersion = true
      return found
    }
    // Another client removed the copy. The original is still there, so the next attempt makes another.
    Object.assign(intention, { isCopied: false, isOutcomeUnknown: true, base: undefined })
    this.#options.save(intention)
    throw new ErrnoError('ESTALE', `${path}: what was stored here is gone; the original is kept`)
  }

  /**
   * Stores the content at its path. If an upload was answered with 409, and this ends before it is known whose document took the
   * name, notes that it may be our own.
   */
  async #store(intention: Intention, signal: AbortSignal): Promise<Stored> {
    const attempt: Attempt = { taken: undefined }
    try {
      return await this.#replace(intention, attempt, signal)
    } catch (error) {
      const { taken } = attempt
      if (taken !== undefined) this.#mayHaveStored(intention, taken === 'copy' ? undefined : taken)
      throw error
    }
  }

  /**
   * Stores the content in rounds: each looks at the document that stands there, makes sure that it may go, deletes it, and uploads.
   * A 409 starts the next round. Round 0 only asks: it uploads while the old version still stands, and hopes for a 409.
   */
  async #replace(intention: Intention, attempt: Attempt, signal: AbortSignal): Promise<Stored> {
    const { files } = this.#options
    const { path } = intention
    await files.ready(path, signal)
    const mayExist = intention.base !== undefined || isDoubtful(intention)
    let standing = mayExist ? await lookUp(files, path, { signal }) : undefined
    let removed: RemoteFile | undefined
    let keptBeside: string | undefined
    // Content that the service may refuse is sent before anything is deleted.
    const isSure = standing === undefined || this.#sizeProbe.covers(intention)
    for (let round = isSure ? 1 : 0; ; round++) {
      const isAsking = round === 0
      // Only in the first round: after a failure of either, DELETE and PUT are sent one after the other.
      const isTogether = standing !== undefined && round === 1 && this.#fitsTogether(intention)
      if (standing !== undefined) {
        if (standing.kind === 'folder') {
          attempt.taken = undefined
          throw new ErrnoError('EISDIR', `${path}: a folder stands here in the service`)
        }
        const whose = await this.#ownership.classifyRemote(intention, standing, signal, attempt.taken)
        attempt.taken = undefined
        if (whose === 'done' || (await this.#ownership.isCopied(intention, standing, signal))) {
          this.#sizeProbe.found(intention)
          return { record: standing, isSourceSeen: false }
        }
        if (!isAsking) {
          await this.#options.secure(intention)
          if (await this.#prepareToReplace(intention, standing, whose === 'theirs', signal)) {
            // Copying it took a while, so another version may stand there by now.
            if (round === replaceRounds)
              throw new ErrnoError('ESTALE', `${path}: another client goes on saving it`)
            keptBeside = fingerprintOf(standing)
            standing = await lookUp(files, path, { signal })
            continue
          }
          const fingerprint = fingerprintOf(standing)
          await this.#options.ask.preserve(
            path,
            signal,
            fingerprint === keptBeside ? undefined : { path, how: 'replaced', fingerprint },
          )
          this.#replacedVersion.backUp(intention)
          removed = standing
          if (!isTogether) await this.#removal.preserved(path, signal)
        }
      }
      let sent: Digest | undefined
      try {
        const how = { signal, onSent: (digest: Digest) => void (sent = digest), isTogether, isAsking }
        const record = await this.#uploads.send(intention, how)
        this.#sizeProbe.took(intention, sent)
        if (intention.base !== undefined) this.#replacedVersion.dropBackup(path)
        return { record, isSourceSeen: intention.spool === undefined && sent === undefined }
      } catch (error) {
        const isTaken = error instanceof ApiError && error.method === 'PUT' && error.status === 409
        const isAnswered = isTaken || (isAsking && isFull(error))
        if (!isAnswered && !(isTogether && isDeleteToRepeat(error))) {
          this.#doubt(intention, error, sent)
          if (isRefusal(error)) {
            this.#sizeProbe.refused(intention, error)
            if (!isAsking) await this.#replacedVersion.putBack(intention, removed, signal)
          }
          throw error
        }
        attempt.taken = sent ?? (intention.spool === undefined ? 'copy' : undefined)
        if (round === replaceRounds) throw error
        if (isAsking && standing !== undefined) await this.#replacedVersion.fetchWhole(path, standing, signal)
        if (isOnlyAccepted(error)) {
          this.#keepsOrder = false
          await this.#removal.carriedOut(path, error, signal)
        }
        standing = await lookUp(files, path, { signal })
        if (isTogether && isTaken && standing === undefined) this.#keepsOrder = false
      }
    }
  }

  #fitsTogether({ spool, size }: Intention): boolean {
    return this.#keepsOrder && spool !== undefined && (size ?? Infinity) <= togetherBytes
  }

  /** Notes content that this attempt sent and the service may have stored, so that it is not taken for another client's. */
  #doubt(intention: Intention, error: unknown, sent: Digest | undefined): void {
    // A body that was not sent to its end cannot have been stored: it is shorter than its Content-Length.
    if (!isOutcomeUnknown(error) || (intention.spool !== undefined && sent === undefined)) return
    this.#mayHaveStored(intention, sent)
  }

  #mayHaveStored(intention: Intention, sent: Digest | undefined): void {
    if (sent === undefined) intention.isOutcomeUnknown = true
    else intention.sentDigests = withDigest(intention.sentDigests, sent)
    this.#options.save(intention)
  }

  /**
   * Checks that the new content can be sent, and keeps a copy of another client's version that was never seen here (`isTheirs`).
   * Returns true if it made one.
   */
  async #prepareToReplace(
    intention: Intention,
    standing: RemoteFile,
    isTheirs: boolean,
    signal: AbortSignal,
  ): Promise<boolean> {
    const { path } = intention
    let isCopied = false
    await this.#uploads.check(intention, signal)
    if (isTheirs) {
      if (
        this.#options.keepConflicts &&
        !(await this.#ownership.isCopyOfSource(intention, standing, signal))
      ) {
        const { files, timers, hostName } = this.#options
        const mimetype = await this.#options.ask.mimetypeOf(path, noContent)
        const copy = await keepTheirs({ files, timers, path, theirs: standing, hostName, mimetype, signal })
        this.#options.say({ kind: 'conflictKept', intention, copy })
        isCopied = true
      }
    }
    const seen = fingerprintOf(standing)
    if (intention.base !== seen) {
      // Noted as seen, so that no second copy is made after a crash.
      intention.base = seen
      this.#options.save(intention)
      this.#options.say({ kind: 'standsOn', intention })
    }
    return isCopied
  }
}

/** True if the DELETE that was sent together with the upload failed, and may succeed next time. */
function isDeleteToRepeat(error: unknown): boolean {
  if (!(error instanceof ApiError) || error.method !== 'DELETE') return false
  return isTemporary(error) || mayMeanMissing(error)
}

/**
 * True for a new document at a path where nothing is known to be. False if a power cut may bring an earlier save's row back, which
 * would take the new document for another client's.
 */
function onlyAdds({ kind, base, source, replacesUndurableRow, ...intention }: Intention): boolean {
  const isNew = base === undefined && source === undefined && replacesUndurableRow !== true
  return kind === 'put' && isNew && !isDoubtful(intention)
}
