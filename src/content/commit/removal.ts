// Takes documents away in the service, and never one that nobody here has seen.

import type { Files, FolderListing, RemoteFile } from '../../api/types.ts'
import { ErrnoError } from '../../errno-error.ts'
import type { Log } from '../../log.ts'
import { fingerprintOf, mayBe } from '../fingerprint.ts'
import type { Intention } from '../intention.ts'
import type { Reader } from '../read/reader.ts'
import { checkGone, lookUp } from '../remote-lookup.ts'
import type { Going } from '../undo/record.ts'
import type { Timers } from '../../world/clock.ts'
import { untilAnswered } from './last-call.ts'
import type { Questions } from './questions.ts'
import type { Ownership } from './ownership.ts'

/** A renamed folder that holds documents for longer than this got them from another client. */
const pruneLagMs = 5_000

export interface RemovalOptions {
  readonly files: Files
  readonly reader: Reader
  readonly timers: Timers
  readonly log: Log
  readonly ask: Pick<Questions, 'preserve'>
}

export class Removal {
  readonly #options: RemovalOptions
  readonly #ownership: Ownership

  constructor(options: RemovalOptions, whose: Ownership) {
    this.#options = options
    this.#ownership = whose
  }

  /** The version at the path goes: whoever still needs its bytes takes them first. */
  async version(path: string, signal: AbortSignal, going?: Going): Promise<void> {
    await this.#options.ask.preserve(path, signal, going)
    await this.preserved(path, signal)
  }

  /** The version at the path goes: nobody else needs its bytes. */
  async preserved(path: string, signal: AbortSignal): Promise<void> {
    await this.#options.reader.forget(path)
    await this.#delete(path, signal)
  }

  /** A source that somebody changed meanwhile is a version nobody here had seen: it stays. */
  async source(
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

  /** True if the document at its source is another than the one that a refused move was to take from there. */
  async isSourceReplaced(intention: Intention, signal: AbortSignal): Promise<boolean> {
    const { source, sourceFingerprint: expected } = intention
    if (source === undefined) return false
    const standing = await lookUp(this.#options.files, source, { signal })
    if (standing?.kind !== 'file') return standing !== undefined
    if (expected !== undefined && mayBe(standing, expected)) return false
    // Where nothing is known of it, the service said that nothing is there.
    if (!(await this.#ownership.wasSent(intention, source, standing, signal))) return true
    // Its bytes are not read again at the next listing.
    intention.sourceFingerprint = fingerprintOf(standing)
    return false
  }

  /** A delete was decided by a listing that may be old by now: it does not hit a version nobody here has seen. */
  async asked(intention: Intention, signal: AbortSignal): Promise<void> {
    const { path, base, sentDigests } = intention
    const standing = await lookUp(this.#options.files, path, { signal })
    if (standing === undefined) return
    const isKnown = base !== undefined || sentDigests.length > 0
    // Also where none is known to stand: the service's delete of a folder takes all that is in it.
    if (standing.kind === 'folder' || (isKnown && (await this.#isTheirs(intention, standing, signal)))) {
      this.#options.log.warn(
        { path },
        'deleted here, but another client has saved a new version since: that one stays',
      )
      return
    }
    // The version that goes, also where it is a save of ours that nobody knew to be stored: a listing that lags still shows it.
    const fingerprint = fingerprintOf(standing)
    intention.base = fingerprint
    await this.version(path, signal, { path, how: 'deleted', fingerprint })
  }

  async #isTheirs(intention: Intention, standing: RemoteFile, signal: AbortSignal): Promise<boolean> {
    // A record that told less than this one does not make it another version: nobody could delete it.
    if (intention.base !== undefined && mayBe(standing, intention.base)) return false
    return (await this.#ownership.classifyRemote(intention, standing, signal)) === 'theirs'
  }

  /** A DELETE of it was only accepted, by an upload that went out together with it: waits until that has been carried out. */
  async carriedOut(path: string, accepted: unknown, signal: AbortSignal): Promise<void> {
    const { files, timers } = this.#options
    await checkGone(files, path, accepted, { signal, timers })
  }

  async #delete(path: string, signal: AbortSignal): Promise<void> {
    const { files, timers } = this.#options
    try {
      // Once: what comes after that has not looked at what stands there by then.
      await untilAnswered(timers, signal, (cut) => files.delete(path, { signal: cut, attempts: 1 }))
    } catch (error) {
      await checkGone(files, path, error, { signal, timers })
    }
  }

  /** The folder at the path goes, if nothing but empty folders is left in it. */
  async emptied({ path, triedForMs }: Intention, signal: AbortSignal): Promise<void> {
    const found = await lookUp(this.#options.files, path, { signal })
    // It went with its last document; what another client stores there by now is not shown yet, and stays.
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
    // A listing may lag behind what was just moved away: each name is asked for itself.
    for (const { name } of found.entries) {
      const inside = `${path}/${name}`
      const child = await lookUp(this.#options.files, inside, { signal })
      if (child !== undefined && (await this.#holdsFiles(inside, child, signal))) return true
    }
    return false
  }
}
