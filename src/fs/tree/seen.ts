// Which version of a document programs here know, and may therefore replace: the one whose content they last read or wrote; where
// none was, the one last shown. Pure memory, by path: asks nothing, and is asked by whoever decides what a save may replace.

import { LRUCache } from 'lru-cache'
import { fuller, isSameVersion, modifiedAtIn, unseen } from '../../content/fingerprint.ts'
import type { Caller } from '../operations.ts'

/** Documents whose content was read or written last. Each takes about 400 bytes, as does each that was shown. */
const mostRead = 100_000
/** A version that a program was told of for the first time so shortly before it saves belongs to the save (ms). */
const lookOfSaveMs = 2_000
/** Programs of one document: of more, those that have ended are forgotten. */
const mostPrograms = 16

/** The program that reads, looks or saves. */
export type Looker = Pick<Caller, 'program' | 'isRunning'>

/** A program that read the content itself. */
interface Knowing {
  readonly program: string
  fingerprint: string
  line: number
}

interface Content {
  fingerprint: string
  /** Grows with each version of another client's that is read: what was saved here since stands on that. */
  line: number
  knowing: Knowing[] | undefined
}

interface Shown {
  fingerprint: string
  at: number
  to: string | undefined
  isToSeveral: boolean
  /** Fingerprint shown before this one. */
  before: string | undefined
}

export interface SeenOptions {
  readonly now: () => number
  /** Documents that were shown last. */
  readonly mostShown: number
  /** When this run began, as people read it (ms). */
  readonly beganAt: number
  /**
   * The version that an earlier run knew at the path when it ended: null for none, undefined where there was no
   * earlier run. With `isOfAny` also what any listing said a moment ago.
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

  /** A program was told that this version is there. True where to tell it to others, or again, changes nothing any more. */
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

  /** A program was given content of this version; undefined: of what is still to be sent from here. */
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
    this.#knows(content, looker)
  }

  /** This version was stored from here. */
  wrote(path: string, fingerprint: string): void {
    const content = this.#contents.get(path)
    if (content === undefined) this.#contents.set(path, { fingerprint, line: 1, knowing: undefined })
    else content.fingerprint = fingerprint
    this.#shown.set(path, { fingerprint, at: -Infinity, to: undefined, isToSeveral: true, before: undefined })
  }

  /** A document was moved from here, with this version of it at its new path: it is known there as far as it was at `from`. */
  moved(
    from: { readonly path: string; readonly fingerprint: string | undefined },
    path: string,
    fingerprint: string,
  ): void {
    const known = from.fingerprint === undefined ? undefined : this.replaceable(from.path, {})
    if (known === undefined || isSameVersion(known, from.fingerprint ?? '')) this.wrote(path, fingerprint)
    else this.brought(path, fingerprint)
  }

  /** This version came to the path from elsewhere, and has been shown to nobody. */
  brought(path: string, fingerprint: string): void {
    this.#contents.delete(path)
    this.#shown.set(path, { fingerprint, at: Infinity, to: undefined, isToSeveral: false, before: unseen })
  }

  /**
   * The version that a save by this program may replace at the path, where `standing` is shown now; undefined where
   * no program here has seen any version there.
   */
  replaceable(path: string, looker: Looker, standing?: string): string | undefined {
    const content = this.#contents.peek(path)
    if (content === undefined) return this.lastShown(path, looker, standing)
    const { knowing } = content
    const program = knowing === undefined ? undefined : looker.program
    const own = program === undefined ? undefined : knowing?.find((each) => each.program === program)
    return own === undefined || own.line === content.line ? content.fingerprint : own.fingerprint
  }

  /** The program has begun to save: what it stores is from here, and it may go on from that. */
  saves(path: string, looker: Looker): void {
    const content = this.#contents.get(path)
    if (content !== undefined) this.#knows(content, looker)
  }

  /** The version that was shown to others, or a while before this call of the program. */
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
    // Here nothing was ever mounted before: what stood there then is the first that could be shown.
    return standing !== undefined && storedAtOf(standing) < beganAt ? standing : undefined
  }

  #knows(content: Content, { program, isRunning }: Looker): void {
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

/** By `max` the room for all of them would be taken at once. */
function bounded(maxSize: number): { maxSize: number; sizeCalculation: () => number } {
  return { maxSize, sizeCalculation: () => 1 }
}

function isOld({ at }: Shown, now: number): boolean {
  return now - at > lookOfSaveMs
}

/** Epoch ms; NaN where it is not told. */
function storedAtOf(fingerprint: string): number {
  return Date.parse(modifiedAtIn(fingerprint) ?? '')
}

/** Where nobody tells programs apart, time alone does. */
function isAnother(one: string | undefined, other: string | undefined): boolean {
  return one !== undefined && other !== undefined && one !== other
}
