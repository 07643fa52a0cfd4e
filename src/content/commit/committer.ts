// Makes the service agree with one intention: the only code that replaces, moves or deletes a remote document. Stateless
// between runs: what it finds in the service decides what is left to do, so it may be cut off anywhere and run again.

import { ApiError, isOutcomeUnknown } from '../../api/errors.ts'
import { isMimetype, type Mimetype } from '../../api/mimetypes.ts'
import type { Files, RemoteFile, Upload } from '../../api/types.ts'
import type { Log } from '../../log.ts'
import { isUriRefusal, keepTheirs } from './conflict.ts'
import { countSent } from './count-sent.ts'
import {
  areSameDocuments,
  checked,
  digested,
  digestOf,
  digestOfStored,
  firstBytes,
  isSameDigest,
  type Digest,
} from '../digest.ts'
import { ErrnoError } from '../../errno-error.ts'
import { agrees, fingerprintOf } from '../fingerprint.ts'
import { isDoubtful, type Intention } from '../intention.ts'
import { lookUp, mayMeanMissing } from '../remote-lookup.ts'
import type { Reader } from '../read/reader.ts'
import type { Spool, SpoolFile } from '../spool/spool.ts'
import { nameOf } from '../../path.ts'

/** A 409 after our DELETE means another client was faster: that often in a row is a quarrel, not a race. */
const replaceRounds = 3

/** A renamed folder that holds documents for longer than this got them from another client. */
const pruneLagMs = 5_000

export interface CommitterOptions {
  readonly files: Files
  readonly spool: Spool
  readonly reader: Reader
  readonly keepConflicts: boolean
  readonly hostName: string
  readonly log: Log
  /** The mimetype for a document of this name; `head` is the start of its content. Throws EOPNOTSUPP. */
  mimetypeOf(path: string, head: () => Promise<Uint8Array>): Promise<Mimetype>
  /** Called before the version at `path` is destroyed: whoever still needs its bytes takes them now. */
  preserve(path: string, signal: AbortSignal): Promise<void>
  /** True when what the intention was decided by may have been old. */
  isLate(intention: Intention): boolean
  /** Makes the intention and its content survive a power cut. */
  secure(intention: Intention): Promise<void>
  /** Journals the intention's changed fields. */
  save(intention: Intention): void
  conflictKept(path: string, copy: string): void
}

export class Committer {
  readonly #options: CommitterOptions

  constructor(options: CommitterOptions) {
    this.#options = options
  }

  /** Answers the record of what now stands at the path (undefined for a delete). */
  async run(intention: Intention, signal: AbortSignal): Promise<RemoteFile | undefined> {
    // Nothing is destroyed for a promise that a power cut could take back; what only adds need not wait for the disk.
    if (!onlyAdds(intention)) await this.#options.secure(intention)
    switch (intention.kind) {
      case 'put':
        return this.#put(intention, signal)
      case 'delete':
        await this.#deleteSeen(intention, signal)
        return undefined
      case 'prune':
        await this.#prune(intention, signal)
        return undefined
    }
  }

  async #put(intention: Intention, signal: AbortSignal): Promise<RemoteFile> {
    const { path, source } = intention
    const isMove = source !== undefined && source !== path && intention.keepSource !== true
    const isFresh = !intention.isProven
    const { record, isSourceSeen } = isFresh
      ? await this.#store(intention, signal)
      : { record: await this.#provenRecord(path, signal), isSourceSeen: false }
    if (!isMove) return record
    if (isFresh) {
      // Cut off because its content is being written again: what is here is older than what the spool holds.
      intention.isProven = !signal.aborted
      intention.base = fingerprintOf(record)
      this.#options.save(intention)
      signal.throwIfAborted()
      // The copy stands: a power cut that took this knowledge back would look for it at a source that is gone.
      await this.#options.secure(intention)
    }
    const expected = isSourceSeen ? undefined : (intention.sourceFingerprint ?? 'unseen')
    await this.#removeSource(intention, source, expected, signal)
    return record
  }

  async #provenRecord(path: string, signal: AbortSignal): Promise<RemoteFile> {
    const found = await lookUp(this.#options.files, path, { signal })
    if (found?.kind === 'file') return found
    throw new ErrnoError('ESTALE', `${path}: what was stored here is gone; the original is kept`)
  }

  /**
   * Gets the content to `path`, replacing what stands there (409 = delete-then-upload). `isSourceSeen`: a copy within the
   * service has just looked at the source; whoever sent bytes, or found them there, has not, or that is a while ago.
   */
  async #store(
    intention: Intention,
    signal: AbortSignal,
  ): Promise<{ record: RemoteFile; isSourceSeen: boolean }> {
    const { files } = this.#options
    const { path } = intention
    const mayExist = intention.base !== undefined || isDoubtful(intention)
    let standing = mayExist ? await lookUp(files, path, { signal }) : undefined
    for (let round = 1; ; round++) {
      if (standing !== undefined) {
        if (standing.kind === 'folder')
          throw new ErrnoError('EISDIR', `${path}: a folder stands here in the service`)
        const whose = await this.#whose(intention, standing, signal)
        if (whose === 'done' || (await this.#hasMoved(intention, standing, signal)))
          return { record: standing, isSourceSeen: false }
        await this.#options.secure(intention)
        await this.#makeRoom(intention, standing, whose === 'theirs', signal)
      }
      let sent: Digest | undefined
      try {
        const record = await this.#upload(intention, signal, (digest) => (sent = digest))
        return { record, isSourceSeen: intention.spool === undefined && sent === undefined }
      } catch (error) {
        const isTaken = error instanceof ApiError && error.status === 409
        if (!isTaken) {
          this.#doubt(intention, error, sent)
          throw error
        }
        if (round === replaceRounds) throw error
        standing = await lookUp(files, path, { signal })
      }
    }
  }

  /** The service may have stored what this attempt sent: remembered, so that it is not taken for somebody else's. */
  #doubt(intention: Intention, error: unknown, sent: Digest | undefined): void {
    // A body that was not read to its end cannot have been stored (its Content-Length says so).
    if (!isOutcomeUnknown(error) || (intention.spool !== undefined && sent === undefined)) return
    if (sent === undefined) intention.isInDoubt = true
    else intention.doubts = [...intention.doubts, sent]
    this.#options.save(intention)
  }

  /** Whether what stands there is this very content, a version that may be replaced, or one that nobody here has seen. */
  async #whose(
    intention: Intention,
    standing: RemoteFile,
    signal: AbortSignal,
  ): Promise<'done' | 'replaceable' | 'theirs'> {
    if (fingerprintOf(standing) === intention.base) return 'replaceable'
    const spool = this.#hasContent(intention) ? this.#content(intention, intention.spool) : undefined
    const size = intention.digest?.size ?? spool?.size
    const mayBe = (other: number): boolean => standing.size === undefined || standing.size === other
    const mayBeThis = size !== undefined && isDoubtful(intention) && mayBe(size)
    const mayBePart = size !== undefined && isDoubtful(intention) && (standing.size ?? 0) < size
    if (!mayBeThis && !mayBePart && !intention.doubts.some(({ size }) => mayBe(size))) return 'theirs'
    const found = await digestOfStored(this.#options.files, intention.path, standing, signal)
    const wanted = intention.digest ?? (spool === undefined ? undefined : await digestOf(spool.stream()))
    if (mayBeThis && wanted !== undefined && isSameDigest(found, wanted)) return 'done'
    if (intention.doubts.some((sent) => isSameDigest(found, sent))) return 'replaceable'
    // Less was stored than was sent, and nobody lived to tell.
    if (!mayBePart || spool === undefined) return 'theirs'
    const part = await digestOf(firstBytes(spool.stream(), found.size))
    return isSameDigest(found, part) ? 'replaceable' : 'theirs'
  }

  async #makeRoom(
    intention: Intention,
    standing: RemoteFile,
    isTheirs: boolean,
    signal: AbortSignal,
  ): Promise<void> {
    const { path } = intention
    await this.#checkContent(intention, signal)
    if (isTheirs) {
      if (this.#options.keepConflicts && !(await this.#isCopyOfSource(intention, standing, signal))) {
        const { files, hostName } = this.#options
        const mimetype = await this.#options.mimetypeOf(path, async () => new Uint8Array())
        const copy = await keepTheirs({ files, path, theirs: standing, hostName, mimetype, signal })
        this.#options.conflictKept(path, copy)
      }
      // Seen now, and kept: a crash after this need not keep it twice.
      intention.base = fingerprintOf(standing)
      this.#options.save(intention)
    }
    await this.#options.preserve(path, signal)
    await this.#delete(path, signal)
  }

  /** Before a version goes, what takes its place must be there, be what was saved, and be of a type that can be sent. */
  async #checkContent(intention: Intention, signal: AbortSignal): Promise<void> {
    const { path, source, spool, digest } = intention
    if (spool !== undefined) {
      const content = this.#content(intention, spool)
      const found = await digestOf(content.stream())
      if (digest !== undefined && !isSameDigest(found, digest)) throw damaged(path, otherThan(digest, found))
      await this.#mimetypeOfContent(path, content)
      return
    }
    const original = source === undefined ? undefined : await lookUp(this.#options.files, source, { signal })
    if (original?.kind !== 'file') {
      throw new ErrnoError('ENOENT', `${source}: gone from the service, so ${path} cannot be made from it`)
    }
    await this.#mimetypeOfCopy(path, original)
  }

  /** A move that was seen through, and forgotten in a power cut: nothing is at the source, and what it had is here. */
  async #hasMoved(intention: Intention, standing: RemoteFile, signal: AbortSignal): Promise<boolean> {
    const { isInDoubt, source, spool, size } = intention
    if (!isInDoubt || source === undefined || spool !== undefined || size === undefined) return false
    if (standing.size !== size) return false
    return (await lookUp(this.#options.files, source, { signal })) === undefined
  }

  /** A move cut off before it was proven left its own copy behind: that is no version of anybody else. */
  async #isCopyOfSource(intention: Intention, standing: RemoteFile, signal: AbortSignal): Promise<boolean> {
    const { source, spool } = intention
    if (!intention.isInDoubt || source === undefined || spool !== undefined) return false
    const { files } = this.#options
    const original = await lookUp(files, source, { signal })
    if (original?.kind !== 'file') return false
    return areSameDocuments(
      files,
      { path: source, file: original },
      { path: intention.path, file: standing },
      signal,
    )
  }

  async #upload(
    intention: Intention,
    signal: AbortSignal,
    onSent: (digest: Digest) => void,
  ): Promise<RemoteFile> {
    if (intention.spool !== undefined)
      return this.#uploadSpool(intention, this.#content(intention, intention.spool), { signal, onSent })
    if (intention.source === undefined)
      throw new ErrnoError('ENOENT', `${intention.path}: what it was to be made from is gone`)
    return this.#copyWithinService(intention, intention.source, { signal, onSent })
  }

  #hasContent(intention: Intention): intention is Intention & { spool: string } {
    return intention.spool !== undefined && this.#options.spool.has(intention.spool)
  }

  /** Throws EBADMSG where somebody removed it. */
  #content({ path }: Intention, spool: string): SpoolFile {
    if (this.#options.spool.has(spool)) return this.#options.spool.get(spool)
    throw damaged(path, 'it is gone')
  }

  /** Sends the content as it was journaled: any other is refused here, and the service keeps what it has. */
  async #uploadSpool(
    intention: Intention,
    content: SpoolFile,
    { signal, onSent }: { signal: AbortSignal; onSent: (digest: Digest) => void },
  ): Promise<RemoteFile> {
    const { path } = intention
    // A copy through this machine has no row that could say what it is.
    const digest = intention.spool === undefined ? content.digest : intention.digest
    const size = digest?.size ?? content.size
    let damage: Error | undefined
    const onMismatch = (found: Digest): Error => (damage = damaged(path, otherThan(digest ?? found, found)))
    const open = (): AsyncIterable<Uint8Array> =>
      countSent(
        intention,
        digested(
          digest === undefined ? content.stream() : checked(content.stream(), digest, onMismatch),
          onSent,
        ),
      )
    const mimetype = await this.#mimetypeOfContent(path, content)
    const record = await this.#send(path, mimetype, { kind: 'bytes', size, open }, signal).catch(
      (error: unknown) => {
        throw damage ?? error
      },
    )
    if (record.size !== undefined && record.size !== size) {
      // Less than was sent, but ours: the next attempt replaces it.
      intention.base = fingerprintOf(record)
      this.#options.save(intention)
    }
    return this.#whole(path, checkedSize(path, record, size), signal)
  }

  /** An answer that does not tell the version (interface: optional) says nothing to compare with later: the document is asked. */
  async #whole(path: string, record: RemoteFile, signal: AbortSignal): Promise<RemoteFile> {
    if (record.size !== undefined && record.modifiedAt !== undefined) return record
    const found = await lookUp(this.#options.files, path, { signal }).catch(() => undefined)
    return found?.kind === 'file' && agrees(record, found) ? found : record
  }

  /** The service fetches its own URL; where it refuses that, the bytes go through us. */
  async #copyWithinService(
    intention: Intention,
    source: string,
    { signal, onSent }: { signal: AbortSignal; onSent: (digest: Digest) => void },
  ): Promise<RemoteFile> {
    const { files } = this.#options
    const { path } = intention
    const original = await lookUp(files, source, { signal })
    if (original?.kind !== 'file')
      throw new ErrnoError('ENOENT', `${source}: gone from the service, so ${path} cannot be made from it`)
    const mimetype = await this.#mimetypeOfCopy(path, original)
    const version = { path: source, fingerprint: fingerprintOf(original), size: original.size }
    if (original.url !== undefined) {
      try {
        await this.#send(path, mimetype, { kind: 'uri', url: original.url }, signal)
        const fresh = await lookUp(files, path, { signal }).catch((error: unknown) => {
          // Stored, and not seen yet: what is found there next time is our own.
          intention.isInDoubt = true
          this.#options.save(intention)
          throw error
        })
        if (fresh?.kind !== 'file')
          throw new ErrnoError('EIO', `${path}: the service accepted a copy and does not show it`)
        const record = checkedSize(path, fresh, original.size)
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
    try {
      await through.use((fd) => this.#options.reader.copyTo(version, fd, { signal }))
      through.remeasure()
      await through.learnDigest()
      return await this.#uploadSpool(intention, through, { signal, onSent })
    } finally {
      await this.#options.spool.remove(through.id)
    }
  }

  async #send(
    path: string,
    mimetype: Mimetype,
    content: Upload['content'],
    signal: AbortSignal,
  ): Promise<RemoteFile> {
    const filename = nameOf(path)
    return this.#options.files.upload(path, { mimetype, filename, content }, { signal })
  }

  #mimetypeOfContent(path: string, content: SpoolFile): Promise<Mimetype> {
    return this.#options.mimetypeOf(path, async () => content.read(0, 4096))
  }

  /** Its original's, where that is told. */
  async #mimetypeOfCopy(path: string, { mimetype }: RemoteFile): Promise<Mimetype> {
    if (mimetype !== undefined && isMimetype(mimetype)) return mimetype
    return this.#options.mimetypeOf(path, async () => new Uint8Array())
  }

  /** A source that somebody changed meanwhile is a version nobody here had seen: it stays. */
  async #removeSource(
    intention: Intention,
    source: string,
    expected: string | undefined,
    signal: AbortSignal,
  ): Promise<void> {
    if (expected !== undefined) {
      const standing = await lookUp(this.#options.files, source, { signal })
      if (standing?.kind !== 'file') return
      if (
        fingerprintOf(standing) !== expected &&
        !(await this.#isAtTarget(intention, source, standing, signal))
      ) {
        this.#options.log.warn(
          { path: source },
          'the renamed document was changed by another client meanwhile: both are kept',
        )
        return
      }
    }
    await this.#options.preserve(source, signal)
    await this.#delete(source, signal)
  }

  /** The very bytes that were moved: whoever stored them there, nothing is lost with them. */
  async #isAtTarget(
    intention: Intention,
    source: string,
    standing: RemoteFile,
    signal: AbortSignal,
  ): Promise<boolean> {
    const moved = await lookUp(this.#options.files, intention.path, { signal })
    if (moved?.kind !== 'file') return false
    const one = { path: source, file: standing }
    return areSameDocuments(this.#options.files, one, { path: intention.path, file: moved }, signal)
  }

  /** A delete that comes late (the service was out of reach, or this machine was) must not hit a version nobody here has seen. */
  async #deleteSeen(intention: Intention, signal: AbortSignal): Promise<void> {
    const { path, base } = intention
    const isLate = intention.attempts > 1 || intention.isInDoubt || this.#options.isLate(intention)
    if (isLate && base !== undefined) {
      const standing = await lookUp(this.#options.files, path, { signal })
      if (standing === undefined) return
      if (standing.kind === 'folder' || (await this.#whose(intention, standing, signal)) === 'theirs') {
        this.#options.log.warn(
          { path },
          'deleted here, but another client has saved a new version since: that one stays',
        )
        return
      }
    }
    await this.#options.preserve(path, signal)
    await this.#delete(path, signal)
  }

  /** Gone is what was asked for, whoever did it. */
  async #delete(path: string, signal: AbortSignal): Promise<void> {
    try {
      await this.#options.files.delete(path, { signal })
    } catch (error) {
      if (!mayMeanMissing(error)) throw error
      if ((await lookUp(this.#options.files, path, { signal })) === undefined) return
      if (!(error instanceof ApiError) || error.status !== 404) throw error
      // A PUT that the service was still working on landed behind our DELETE: no refusal, a matter of trying again.
      throw new ErrnoError('EIO', `${path}: gone, and there again`, { cause: error })
    }
  }

  async #prune({ path, triedForMs }: Intention, signal: AbortSignal): Promise<void> {
    if (await this.#holdsFiles(path, signal)) {
      // What was just moved away may still be shown for a moment.
      if (triedForMs < pruneLagMs)
        throw new ErrnoError('EIO', `${path}: the renamed folder is not empty in the service`)
      this.#options.log.warn(
        { path },
        'the renamed folder got new documents from another client: they stay where they are',
      )
      return
    }
    await this.#delete(path, signal)
  }

  async #holdsFiles(path: string, signal: AbortSignal): Promise<boolean> {
    const found = await lookUp(this.#options.files, path, { signal })
    if (found === undefined) return false
    if (found.kind === 'file') return true
    // A listing may lag behind what was just moved away: each name is asked for itself.
    for (const { name } of found.entries) if (await this.#holdsFiles(`${path}/${name}`, signal)) return true
    return false
  }
}

/** Waiting would not help, and nothing of it may be sent: the user decides. */
function damaged(path: string, how: string): ErrnoError {
  return new ErrnoError(
    'EBADMSG',
    `${path}: the content kept on this machine is damaged (${how}): nothing was sent, what the service has stays`,
  )
}

function otherThan(saved: Digest, found: Digest): string {
  return saved.size === found.size
    ? 'other bytes than were saved'
    : `${found.size} bytes, and ${saved.size} were saved`
}

/** A new document at a name where nothing is known to be. */
function onlyAdds({ kind, base, source, ...intention }: Intention): boolean {
  return kind === 'put' && base === undefined && source === undefined && !isDoubtful(intention)
}

/** What was stored must be as long as what was sent, wherever the service tells. */
function checkedSize(path: string, record: RemoteFile, size: number | undefined): RemoteFile {
  if (record.size === undefined || size === undefined || record.size === size) return record
  throw new ErrnoError('EIO', `${path}: sent ${size} bytes, the service stored ${record.size}`)
}
