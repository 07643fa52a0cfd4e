// Makes the service agree with one intention: the only code that replaces, moves or deletes a remote document
// (with `uploads`, `removal`, `replaced-version`, `conflict` and `store-at`, which it alone uses). Stateless between runs: what it finds in the service decides
// what is left to do, so it may be cut off anywhere and run again.

import { ApiError, isOnlyAccepted, isOutcomeUnknown, isTemporary } from '../../api/errors.ts'
import { noContent } from '../../api/readable-content.ts'
import type { RemoteFile } from '../../api/types.ts'
import { ErrnoError } from '../../errno-error.ts'
import { withDigest, type Digest } from '../digest.ts'
import { fingerprintOf, mayBe } from '../fingerprint.ts'
import { isDoubtful, type Intention } from '../intention.ts'
import { lookUp, mayMeanMissing } from '../remote-lookup.ts'
import { keepTheirs } from './conflict.ts'
import { SizeProbe, isFull, isRefusal } from './size-probe.ts'
import { ReplacedVersion, type ReplacedVersionOptions } from './replaced-version.ts'
import type { Questions } from './questions.ts'
import { Removal, type RemovalOptions } from './removal.ts'
import { Uploads } from './uploads.ts'
import { Ownership, type NameTakenBy } from './ownership.ts'

/** A 409 after our DELETE means another client was faster: that often in a row is a quarrel, not a race. */
const replaceRounds = 3

/** Content up to this size is held in memory, so that it goes out together with the DELETE of what it replaces (bytes). */
const togetherBytes = 1024 * 1024

export interface CommitterOptions extends ReplacedVersionOptions, RemovalOptions {
  readonly keepConflicts: boolean
  readonly hostName: string
  readonly ask: Pick<Questions, 'preserve' | 'mimetypeOf'>
}

interface Stored {
  readonly record: RemoteFile
  /**
   * True after a copy within the service, which has just looked at the source; an upload, or bytes found there, has not, or
   * that is a while ago.
   */
  readonly isSourceSeen: boolean
}

interface Attempt {
  /** Content of an upload that found its name taken, until it is known whose version that is. */
  taken: NameTakenBy | undefined
}

export class Committer {
  readonly #options: CommitterOptions
  /** False once something on the way has changed the order of what went out together. */
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

  /** Documents of so many bytes the service was found to refuse. */
  get refusedBytes(): number {
    return this.#sizeProbe.refusedBytes
  }

  /** Answers the record of what now stands at the path (undefined for a delete). */
  async run(intention: Intention, signal: AbortSignal): Promise<RemoteFile | undefined> {
    // No version is destroyed for a promise that a power cut could take back; a change that only adds need not wait for the disk.
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
    // Also where it was cut off since: what an intention carries never changes, so this is still what was wanted.
    if (isFresh) Object.assign(intention, { isCopied: true, base: fingerprintOf(record) })
    // Known already, it need not be journaled: there may have been no room when an earlier attempt learned it.
    this.#options.save(intention)
    signal.throwIfAborted()
    // The copy stands: a power cut that took this knowledge back would look for it at a source that is gone.
    await this.#options.secure(intention)
    const expected = isSourceSeen ? undefined : (intention.sourceFingerprint ?? 'unseen')
    await this.#removal.source(intention, source, expected, signal)
    return record
  }

  /** A refused move whose content is here by now, and a folder that is wanted where it came from: what stands there goes. */
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

  async #provenRecord(intention: Intention, signal: AbortSignal): Promise<RemoteFile> {
    const { path, base } = intention
    const found = await lookUp(this.#options.files, path, { signal })
    if (found?.kind === 'file') {
      if (base !== undefined && !mayBe(found, base)) intention.movedForeignVersion = true
      return found
    }
    // Another client took it away before its original went: it is stored once more.
    Object.assign(intention, { isCopied: false, isOutcomeUnknown: true, base: undefined })
    this.#options.save(intention)
    throw new ErrnoError('ESTALE', `${path}: what was stored here is gone; the original is kept`)
  }

  /**
   * Gets the content to its path. An upload that found its name taken, and did not find out by which version, may
   * have stored its content.
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

  /** The same, over what stands there (409 = delete-then-upload). */
  async #replace(intention: Intention, attempt: Attempt, signal: AbortSignal): Promise<Stored> {
    const { files } = this.#options
    const { path } = intention
    const mayExist = intention.base !== undefined || isDoubtful(intention)
    let standing = mayExist ? await lookUp(files, path, { signal }) : undefined
    let removed: RemoteFile | undefined
    let keptBeside: string | undefined
    // Content that may be refused is sent before anything is deleted: that the name is taken is the answer hoped for.
    const isSure = standing === undefined || this.#sizeProbe.covers(intention)
    for (let round = isSure ? 1 : 0; ; round++) {
      const isAsking = round === 0
      // Once: what went wrong with both is taken up step by step.
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
            // To keep it took as long as a copy takes, or until the service was back: another may stand there by now.
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

  /** The service may have stored what this attempt sent: remembered, so that it is not taken for somebody else's. */
  #doubt(intention: Intention, error: unknown, sent: Digest | undefined): void {
    // A body that was not read to its end cannot have been stored (its Content-Length says so).
    if (!isOutcomeUnknown(error) || (intention.spool !== undefined && sent === undefined)) return
    this.#mayHaveStored(intention, sent)
  }

  #mayHaveStored(intention: Intention, sent: Digest | undefined): void {
    if (sent === undefined) intention.isOutcomeUnknown = true
    else intention.sentDigests = withDigest(intention.sentDigests, sent)
    this.#options.save(intention)
  }

  /**
   * Makes sure that what takes its place can be sent, and keeps a version that nobody here had seen: true where a
   * copy of it was made.
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
      // Seen now, and kept: a crash after this need not keep it twice.
      intention.base = seen
      this.#options.save(intention)
      this.#options.say({ kind: 'standsOn', intention })
    }
    return isCopied
  }
}

/** The DELETE that went out together with the upload failed, and may not another time. */
function isDeleteToRepeat(error: unknown): boolean {
  if (!(error instanceof ApiError) || error.method !== 'DELETE') return false
  return isTemporary(error) || mayMeanMissing(error)
}

/** A new document at a name where nothing is known to be. An earlier save that came back would take it for another client's. */
function onlyAdds({ kind, base, source, replacesUndurableRow, ...intention }: Intention): boolean {
  const isNew = base === undefined && source === undefined && replacesUndurableRow !== true
  return kind === 'put' && isNew && !isDoubtful(intention)
}
