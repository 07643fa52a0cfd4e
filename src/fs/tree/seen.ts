// Versions of documents that programs here know, and may therefore replace: the one whose content they last read or wrote, or
// else the one last shown. In memory only, by path; makes no calls. `begin-save.ts` asks it.

import { LRUCache } from 'lru-cache'
import { fuller, isSameVersion, modifiedAtIn, unseen } from '../../content/fingerprint.ts'
import type { Caller } from '../operations.ts'

/** Most documents whose read or written version is remembered. Each takes about 400 bytes, as does each that was shown. */
const mostRead = 100_000
/** A version first shown to a program so shortly before its save (ms) was looked up for the save: it does not know it. */
const lookupOfSaveMs = 2_000
/** Most programs of one document that are remembered; beyond that, those that have ended are forgotten. */
const mostPrograms = 16

/** The program that reads, looks up or saves. */
export type Looker = Pick<Caller, 'program' | 'isRunning'>

/** A program that read the content, and the version of it. */
interface Knowing {
  readonly program: string
  fingerprint: string
  line: number
}

interface Content {
  fingerprint: string
  /** Grows with each version of another client that is read: versions saved here since are based on that one. */
  line: number
  knowing: Knowing[] | undefined
}

/** The version last shown at a path; `at`: when (ms; Infinity: to no program yet), `to`: to which program. */
interface Shown {
  fingerprint: string
  at: number
  to: string | undefined
  isToSeveral: boolean
  /** Fingerprint of the version shown before this one. */
  before: string | undefined
}

export interface SeenOptions {
  readonly now: () => number
  /** Most documents whose shown version is remembered. */
  readonly mostShown: number
  /** Start of this run (epoch ms). */
  readonly beganAt: number
  /**
   * Returns the version that an earlier run knew at the path when it ended: null for none, undefined without an earlier run.
   * With `isOfAny` also a version that any recent listing told.
   */
  readonly earlier: (path: string, isOfAny: boolean) => string | null | undefined
}

export class Seen {
  readonly #options: SeenOptions
  readonly #contents = new LRUCache<string, Content>(bounded(mostRead))
  readonly #shown: LRUCache<string, Shown>
  #hasForgotten = false

  constructor(options: SeenOptions) {
    this.#options = options
    this.#shown = new LRUCache<string, Shown>({
      ...bounded(options.mostShown),
      dispose: (_shown, _path, reason) => {
        if (reason === 'evict') this.#hasForgotten = true
      },
    })
  }

  /** Notes that a program was shown this version. Returns true if showing it again, or to others, changes nothing any more. */
  told(path: string, fingerprint: string, looker: Looker): boolean {
    const at = this.#options.now()
    const shown = this.#shown.get(path)
    if (shown === undefined) {
      const to = looker.program
      this.#shown.set(path, { fingerprint, at, to, isToSeveral: false, before: undefined })
    } else if (!isSameVersion(fingerprint, shown.fingerprint)) {
      if (shown.isToSeveral || isOld(shown, at)) shown.before = shown.fingerprint
      Object.assign(shown, { fingerprint, at, to: looker.program, isToSeveral: false })
    } else if (shown.at === Infinity) {
      Object.assign(shown, { at, to: looker.program })
    } else {
      shown.fingerprint = fuller(fingerprint, shown.fingerprint)
      if (shown.isToSeveral || isOld(shown, at)) return true
      shown.isToSeveral = isAnother(shown.to, looker.program)
      return shown.isToSeveral
    }
    return false
  }

  /** Notes that a program read content of this version; undefined for content that is unsent. */
  read(path: string, fingerprint: string | undefined, looker: Looker): void {
    let content = this.#contents.get(path)
    if (content === undefined) {
      if (fingerprint === undefined) return
      content = { fingerprint, line: 1, knowing: undefined }
      this.#contents.set(path, content)
    } else if (fingerprint !== undefined) {
      const isSame = isSameVersion(fingerprint, content.fingerprint)
      if (!isSame) content.line++
      content.fingerprint = isSame ? fuller(fingerprint, content.fingerprint) : fingerprint
    }
    this.#noteKnown(content, looker)
  }

  /** Notes that this drive stored this version. */
  wrote(path: string, fingerprint: string): void {
    const content = this.#contents.get(path)
    if (content === undefined) this.#contents.set(path, { fingerprint, line: 1, knowing: undefined })
    else content.fingerprint = fingerprint
    this.#shown.set(path, { fingerprint, at: -Infinity, to: undefined, isToSeveral: true, before: undefined })
  }

  /** Notes a move by this drive, with the version at the new path: it is known there as far as it was at `from`. */
  moved(
    from: { readonly path: string; readonly fingerprint: string | undefined },
    path: string,
    fingerprint: string,
  ): void {
    const known = from.fingerprint === undefined ? undefined : this.replaceable(from.path, {})
    if (known === undefined || isSameVersion(known, from.fingerprint ?? '')) this.wrote(path, fingerprint)
    else this.brought(path, fingerprint)
  }

  /** Notes that this version came to the path from elsewhere, and was shown to no program. */
  brought(path: string, fingerprint: string): void {
    this.#contents.delete(path)
    this.#shown.set(path, { fingerprint, at: Infinity, to: undefined, isToSeveral: false, before: unseen })
  }

  /**
   * Returns the version that a save by this program may replace at the path; undefined if no program here has seen one there.
   * `standing`: the version shown now.
   */
  replaceable(path: string, looker: Looker, standing?: string): string | undefined {
    const content = this.#contents.peek(path)
    if (content === undefined) return this.lastShown(path, looker, standing)
    const { knowing } = content
    const program = knowing === undefined ? undefined : looker.program
    const own = program === undefined ? undefined : knowing?.find((each) => each.program === program)
    // Of the same line: the newer versions were saved here, on top of the one that the program read.
    return own === undefined || own.line === content.line ? content.fingerprint : own.fingerprint
  }

  /** Notes that the program has begun to save: it may replace the version that it stores. */
  saves(path: string, looker: Looker): void {
    const content = this.#contents.get(path)
    if (content !== undefined) this.#noteKnown(content, looker)
  }

  /** Returns the version that was shown to other programs, or to this one some time before this call. */
  lastShown(path: string, looker: Looker, standing?: string): string | undefined {
    const { now, beganAt, earlier } = this.#options
    const shown = this.#shown.peek(path)
    if (shown !== undefined) {
      const { isToSeveral, to, before } = shown
      if (isToSeveral || isOld(shown, now()) || isAnother(to, looker.program)) return shown.fingerprint
      if (before !== undefined) return before
    }
    const known = earlier(path, this.#hasForgotten)
    if (known !== undefined) return known ?? undefined
    // This is the first mount: a version from before it is the first that could be shown.
    return standing !== undefined && storedAtOf(standing) < beganAt ? standing : undefined
  }

  #noteKnown(content: Content, { program, isRunning }: Looker): void {
    if (program === undefined) return
    const { fingerprint, line } = content
    const known = content.knowing?.find((each) => each.program === program)
    if (known !== undefined) {
      Object.assign(known, { fingerprint, line })
      return
    }
    content.knowing ??= []
    if (content.knowing.length >= mostPrograms && isRunning !== undefined)
      content.knowing = content.knowing.filter((each) => isRunning(each.program))
    if (content.knowing.length >= mostPrograms && isRunning === undefined) content.knowing.shift()
    content.knowing.push({ program, fingerprint, line })
  }
}

/** Returns limits for an LRUCache. With `max` it would allocate memory for all entries at once. */
function bounded(maxSize: number): { maxSize: number; sizeCalculation: () => number } {
  return { maxSize, sizeCalculation: () => 1 }
}

function isOld({ at }: Shown, now: number): boolean {
  return now - at > lookupOfSaveMs
}

/** Returns the time of a version (epoch ms); NaN if the service did not tell it. */
function storedAtOf(fingerprint: string): number {
  return Date.parse(modifiedAtIn(fingerprint) ?? '')
}

/** True if both programs are known, and differ. Where they are unknown, time alone decides. */
function isAnother(one: string | undefined, other: string | undefined): boolean {
  return one !== undefined && other !== undefined && one !== other
}
