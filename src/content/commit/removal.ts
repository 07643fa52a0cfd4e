// Deletes documents in the service, but never another client's version that was not seen here. The committer calls `asked` for
// a delete, `source` at the end of a move, `preserved` before a save's upload, and `emptied` for a prune.

import type { FolderListing, RemoteFile } from '../../api/types.ts'
import { ErrnoError } from '../../errno-error.ts'
import type { Log } from '../../log.ts'
import { fingerprintOf, mayBe } from '../fingerprint.ts'
import type { Intention } from '../intention.ts'
import type { LateFiles } from './late-files.ts'
import type { Reader } from '../read/reader.ts'
import { checkGone, lookUp } from '../remote-lookup.ts'
import type { Going } from '../undo/record.ts'
import type { Timers } from '../../world/clock.ts'
import { untilAnswered } from './last-call.ts'
import type { Questions } from './questions.ts'
import type { Ownership } from './ownership.ts'

/** A renamed folder that still has documents after this time got them from another client (ms). */
const pruneLagMs = 5_000

export interface RemovalOptions {
  readonly files: LateFiles
  readonly reader: Reader
  readonly timers: Timers
  readonly log: Log
  readonly ask: Pick<Questions, 'preserve'>
}

export class Removal {
  readonly #options: RemovalOptions
  readonly #ownership: Ownership

  constructor(options: RemovalOptions, ownership: Ownership) {
    this.#options = options
    this.#ownership = ownership
  }

  /** Deletes the version at the path, after nodes that still need its bytes have fetched them. `going`: what undo keeps of it. */
  async version(path: string, signal: AbortSignal, going?: Going): Promise<void> {
    await this.#options.ask.preserve(path, signal, going)
    await this.preserved(path, signal)
  }

  /** Deletes the version at the path, after the caller has asked `preserve` for it. */
  async preserved(path: string, signal: AbortSignal): Promise<void> {
    await this.#options.reader.forget(path)
    await this.#delete(path, signal)
  }

  /**
   * Deletes the source of a move. A source that another client changed meanwhile was not seen here, and stays. `expected`: its
   * fingerprint; undefined if it was looked at just before.
   */
  async source(
    intention: Intention,
    source: string,
    expected: string | undefined,
    signal: AbortSignal,
  ): Promise<void> {
    await this.#options.files.arrivalsOver(source, signal)
    if (expected !== undefined) {
      const standing = await lookUp(this.#options.files, source, { signal })
      if (standing?.kind !== 'file') return
      if (
        fingerprintOf(standing) !== expected &&
        !(await this.#ownership.wasSent(intention, source, standing, signal)) &&
        !(await this.#ownership.isAtTarget(intention, source, standing, signal))
      ) {
        this.#options.log.warn(
          { path: source },
          'the renamed document was changed by another client meanwhile: both are kept',
        )
        return
      }
    }
    await this.version(source, signal)
  }

  /** True if the document at a refused move's source is another than the one to be moved. */
  async isSourceReplaced(intention: Intention, signal: AbortSignal): Promise<boolean> {
    const { source, sourceFingerprint: expected } = intention
    if (source === undefined) return false
    const standing = await lookUp(this.#options.files, source, { signal })
    if (standing?.kind !== 'file') return standing !== undefined
    if (expected !== undefined && mayBe(standing, expected)) return false
    // Without a known version or content, the move was refused because nothing was there: any document is another one.
    if (!(await this.#ownership.wasSent(intention, source, standing, signal))) return true
    // With the fingerprint known, the next listing need not have its bytes read again.
    intention.sourceFingerprint = fingerprintOf(standing)
    return false
  }

  /** Carries out a delete. It was decided by a listing that may be old by now, so a version never seen here stays. */
  async asked(intention: Intention, signal: AbortSignal): Promise<void> {
    const { path, base, sentDigests } = intention
    await this.#options.files.arrivalsOver(path, signal)
    const standing = await lookUp(this.#options.files, path, { signal })
    if (standing === undefined) return
    const isKnown = base !== undefined || sentDigests.length > 0
    // A folder stays even if no version is known: the service would delete everything in it.
    if (standing.kind === 'folder' || (isKnown && (await this.#isTheirs(intention, standing, signal)))) {
      this.#options.log.warn(
        { path },
        'deleted here, but another client has saved a new version since: that one stays',
      )
      return
    }
    // The deleted version is noted, even if it is a save of ours not known to be stored: a listing that lags may still show it.
    const fingerprint = fingerprintOf(standing)
    intention.base = fingerprint
    await this.version(path, signal, { path, how: 'deleted', fingerprint })
  }

  async #isTheirs(intention: Intention, standing: RemoteFile, signal: AbortSignal): Promise<boolean> {
    // The base may come from a record with fewer fields: that makes this no other version, or it could never be deleted.
    if (intention.base !== undefined && mayBe(standing, intention.base)) return false
    return (await this.#ownership.classifyRemote(intention, standing, signal)) === 'theirs'
  }

  /** Waits until a DELETE that was sent together with an upload, and only accepted, has been carried out. */
  async carriedOut(path: string, accepted: unknown, signal: AbortSignal): Promise<void> {
    const { files, timers } = this.#options
    await checkGone(files, path, accepted, { signal, timers })
  }

  async #delete(path: string, signal: AbortSignal): Promise<void> {
    const { files, timers } = this.#options
    try {
      // One attempt only: a repetition would not have checked which version stands there by then.
      await untilAnswered(timers, signal, (cut) => files.delete(path, { signal: cut, attempts: 1 }))
    } catch (error) {
      await checkGone(files, path, error, { signal, timers })
    }
  }

  /** Deletes the folder at the path, if it contains only empty folders. */
  async emptied({ path, triedForMs }: Intention, signal: AbortSignal): Promise<void> {
    await this.#options.files.arrivalsOver(path, signal)
    const found = await lookUp(this.#options.files, path, { signal })
    // The service removed it with its last document.
    if (found === undefined) return
    if (await this.#holdsFiles(path, found, signal)) {
      // A document that was just moved away may still be shown for a moment.
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

  async #holdsFiles(path: string, found: RemoteFile | FolderListing, signal: AbortSignal): Promise<boolean> {
    if (found.kind === 'file') return true
    // The listing may still show documents that were just moved away, so each name is looked up.
    for (const { name } of found.entries) {
      const inside = `${path}/${name}`
      const child = await lookUp(this.#options.files, inside, { signal })
      if (child !== undefined && (await this.#holdsFiles(inside, child, signal))) return true
    }
    return false
  }
}
