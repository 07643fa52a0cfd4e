// A record of what was written in the folder that another client works in, too, and who could have seen it. Each content
// is told from every other by its length; what the other client stored may go by a call of the drive's only where it is
// elsewhere by then, or where a program here had read it. Where none had read or saved anything at its path since the
// start, a save may also take the place of what was shown a while before; and a delete takes what was shown.

import type { Chance } from '../model/chance.ts'
import { Loss } from '../model/loss.ts'
import { transferBytes } from '../support/object-file.ts'
import { isAtOrBelow, type Document, type ServiceModel } from './service-model.ts'
import { SharedLooks } from './shared-looks.ts'

const keptOperations = 500
/** How long a delete rests before it is sent, at most, and what its call takes (ms). */
const deleteRestMs = 5_000
/** A version shown for no longer than this was shown to the save alone, not to its program (ms). */
export const lookOfSaveMs = 2_000

export interface Done {
  readonly paths: readonly string[]
  readonly beganAt: number
  /** Its program could have seen all that the drive was shown until then. Infinity: not over yet, or not known. */
  endedAt: number
  readonly takesAway: boolean
  /** With all that is below its paths: the rename of a folder. */
  readonly isTree: boolean
  /** Something at its paths had been read or saved here since the drive began: it takes the place of nothing else. */
  readonly isKnown: boolean
}

interface Theirs {
  readonly path: string
  readonly bytes: Buffer
  readonly stored: Document
  readonly storedAt: number
}

export interface SharedLedgerOptions {
  readonly service: ServiceModel
  readonly now: () => number
  /** The drive shows nothing older than this (ms). */
  readonly cacheTtlMs: number
  /** By the service's time it stood there before anything was ever mounted here: it counts as shown. */
  isOlderThanMount(modifiedAt: string): boolean
}

export class SharedLedger {
  readonly #options: SharedLedgerOptions
  readonly #looks: SharedLooks
  #lastLength = 20
  /** Every content that was ever here, by its length. */
  readonly #contents = new Map<number, Buffer>()
  /** Contents of which the drive refused to take all, and from where on a program was writing them. */
  readonly #refused: { readonly bytes: Buffer; readonly from: number }[] = []
  /** Versions of the other client's, by the service's number. */
  readonly #theirs = new Map<number, Theirs>()
  /** Contents saved here last, by path, where the other client has not taken them away. */
  readonly #ours = new Map<string, Buffer>()
  /** Lengths of what was saved here, and the other client took away wherever the service had it: a move finds no more of it. */
  readonly #takenAway = new Set<number>()
  /** Lengths of what was renamed to a path here: a copy stands there before the one at its older place goes. */
  readonly #renamedTo = new Map<string, Set<number>>()
  /** Lengths of what was saved here before that, and shows no more. */
  readonly #outdated = new Map<string, Set<number>>()
  readonly #lastSaved = new Map<string, number>()
  /** Lengths of what was read here. */
  readonly #read = new Set<number>()
  /** Paths where something was read or saved since the drive began. */
  readonly #known = new Set<string>()
  #done: Done[] = []

  constructor(options: SharedLedgerOptions) {
    this.#options = options
    const { service } = options
    this.#looks = new SharedLooks(service, options.now)
    service.onDestroyed = (id, at, sentAt) => this.#destroyed(id, at, sentAt)
  }

  /** Of a length that no other has. */
  content(chance: Chance, beginning: Buffer = Buffer.alloc(0)): Buffer {
    this.#lastLength += 1 + chance.below(50)
    const bytes = Buffer.concat([beginning, chance.bytes(this.#lastLength - beginning.length)])
    this.#contents.set(bytes.length, bytes)
    return bytes
  }

  /** The drive refused a program that was writing this in place, from there on: what it took before may stand. */
  refused(bytes: Buffer, from: number): void {
    if (bytes.length - from > transferBytes) this.#refused.push({ bytes, from })
  }

  /** True for what the writes that were taken of a refused content come to. */
  #isBegun(shown: Buffer): boolean {
    const { length } = shown
    return this.#refused.some(
      ({ bytes, from }) =>
        length > from && (length - from) % transferBytes === 0 && bytes.subarray(0, length).equals(shown),
    )
  }

  /** The other client stores a document, where nothing stands. */
  otherStores(path: string, bytes: Buffer): void {
    const stored = this.#options.service.store(path, bytes)
    if (stored !== undefined)
      this.#theirs.set(stored.id, { path, bytes, stored, storedAt: this.#options.now() })
  }

  /** The other client deletes a document, or a folder with all that is in it. */
  otherRemoves(at: string): void {
    const { service } = this.#options
    const gone = [...service.documents].filter(([path]) => isAtOrBelow(path, at))
    service.remove(at)
    for (const [path, document] of gone) this.#tookAway(path, document)
  }

  #tookAway(path: string, before: Document): void {
    this.#theirs.delete(before.id)
    if (this.#ours.get(path)?.equals(before.bytes) === true) this.#ours.delete(path)
    const { length } = before.bytes
    // A content still at its older place is about to vanish there: its move had reached the path where it was taken away.
    const hadCome = this.#renamedTo.get(path)?.has(length) === true
    if (hadCome || !this.#isInService(before.bytes)) this.#takenAway.add(length)
  }

  /** A program here begins a change. Until it is done, what is there is in doubt. */
  begin(paths: readonly string[], takesAway: boolean): Done {
    for (const path of paths) this.#ours.delete(path)
    const isKnown = !takesAway && paths.every((path) => this.#known.has(path))
    const beganAt = this.#options.now()
    return this.#begun({ paths, beganAt, endedAt: Infinity, takesAway, isTree: false, isKnown })
  }

  #begun(done: Done): Done {
    this.#done.push(done)
    if (this.#done.length > keptOperations) this.#done = this.#done.slice(-keptOperations / 2)
    return done
  }

  ended(done: Done): void {
    done.endedAt = this.#options.now()
  }

  saved(path: string, bytes: Buffer, done: Done): void {
    this.ended(done)
    this.#ours.set(path, bytes)
    this.#known.add(path)
    const before = this.#lastSaved.get(path)
    this.#lastSaved.set(path, bytes.length)
    if (before === undefined) return
    const outdated = this.#outdated.get(path) ?? new Set()
    this.#outdated.set(path, outdated.add(before))
  }

  /** A document is renamed. Answers what to call when that is done. */
  renames(path: string, to: string): () => void {
    const moved = this.#ours.get(path)
    // It may bring back what was moved away from there.
    this.#forgetShown(to)
    // The document at the new name is saved over, not taken away.
    const done = [this.begin([path], true), this.begin([to], false)]
    if (moved !== undefined) this.#isComing(to, moved)
    return () => {
      for (const each of done) this.ended(each)
      if (moved !== undefined) this.#ours.set(to, moved)
    }
  }

  /** A folder is renamed, with all that is in it, to where none is. Answers what to call when that is done. */
  renamesFolder(path: string, to: string): () => void {
    const moved = this.#oursIn(path).map(([at, bytes]) => [to + at.slice(path.length), bytes] as const)
    for (const at of new Set([...this.#outdated.keys(), ...this.#lastSaved.keys()]))
      if (isAtOrBelow(at, to)) this.#forgetShown(at)
    for (const folder of [path, to]) for (const [at] of this.#oursIn(folder)) this.#ours.delete(at)
    const beganAt = this.#options.now()
    const tree = { paths: [path, to], takesAway: true, isTree: true, isKnown: false }
    const done = this.#begun({ ...tree, beganAt, endedAt: Infinity })
    for (const [at, bytes] of moved) this.#isComing(at, bytes)
    return () => {
      this.ended(done)
      for (const [at, bytes] of moved) this.#ours.set(at, bytes)
    }
  }

  #isComing(path: string, { length }: Buffer): void {
    this.#renamedTo.set(path, new Set(this.#renamedTo.get(path)).add(length))
  }

  #forgetShown(path: string): void {
    this.#outdated.delete(path)
    this.#lastSaved.delete(path)
  }

  /** Paths at and below a folder where something is that was saved here, and that the other client has not taken away. */
  standing(folder: string): string[] {
    return this.#oursIn(folder)
      .filter(([, { length }]) => !this.#takenAway.has(length))
      .map(([path]) => path)
  }

  #oursIn(folder: string): [string, Buffer][] {
    return [...this.#ours].filter(([path]) => isAtOrBelow(path, folder))
  }

  /** Lengths of what no read that begins now may show. */
  outdated(path: string): ReadonlySet<number> {
    return new Set(this.#outdated.get(path))
  }

  /** A program was shown this. `outdated`: before it was read. */
  shown(path: string, shown: Buffer, outdated: ReadonlySet<number>): void {
    this.#known.add(path)
    // An open that failed after it had emptied the document.
    if (shown.length === 0) return
    this.#read.add(shown.length)
    if (outdated.has(shown.length))
      throw new Loss(`${path}: ${shown.length} bytes are shown that were saved before what was saved last`)
    if (this.#contents.get(shown.length)?.equals(shown) !== true && !this.#isBegun(shown))
      throw new Loss(`${path}: ${shown.length} bytes that nobody has written`)
  }

  /** Left alone, with nothing unsent but what is refused: what was saved here is there. */
  check(refused: ReadonlySet<string>): void {
    for (const [path, bytes] of this.#ours) {
      if (refused.has(path) || this.#takenAway.has(bytes.length)) continue
      const found = this.#options.service.documents.get(path)?.bytes
      if (found?.equals(bytes) !== true)
        throw new Loss(
          `${path} beside another client: ${found?.length ?? 'no'} bytes, saved were ${bytes.length}`,
        )
    }
  }

  /** The drive began anew: of what was read and saved before it knows what was shown at its end. */
  began(): void {
    this.#known.clear()
  }

  /** Changes that were under way when the power went may be there or not. */
  forget(): void {
    this.#ours.clear()
    this.#outdated.clear()
    this.#lastSaved.clear()
  }

  /** A DELETE at `at`, sent at `sentAt`, took a document away: at that path, or below it. */
  #destroyed(id: number, at: string, sentAt: number): void {
    const theirs = this.#theirs.get(id)
    if (theirs === undefined) return
    this.#theirs.delete(id)
    const { service, now, cacheTtlMs } = this.#options
    const { path, bytes, stored, storedAt } = theirs
    if (this.#isInService(bytes)) return
    const shownAt = service.shownAt.get(id) ?? Infinity
    // A version that no listing tells from the one before it is deleted with what was decided about that one (shared
    // seed 970061).
    const lookedLikeAt = service.lookedLikeAt(path, stored)
    const isWith = at !== path
    const isOlder = this.#options.isOlderThanMount(stored.modifiedAt)
    const isOf = ({ paths, isTree }: Done): boolean =>
      isTree ? !isWith && paths.some((folder) => isAtOrBelow(path, folder)) : paths.includes(path)
    // A document that was only read must not go with its folder: the program that removes the folder is not told of it.
    const wasSeen =
      (!isWith && this.#read.has(bytes.length)) ||
      this.#done.some(
        (done) =>
          isOf(done) &&
          (isWith || done.takesAway
            ? done.endedAt > (isWith ? shownAt : lookedLikeAt)
            : !done.isKnown && (isOlder || done.endedAt > shownAt + lookOfSaveMs)),
      )
    // A delete goes by what was shown when it was asked for, and is sent after a rest without another look.
    const isRace = now() - storedAt <= cacheTtlMs + deleteRestMs && this.#done.some(
      (done) =>
        done.takesAway && isOf(done) && done.beganAt > storedAt - deleteRestMs,
    ) // prettier-ignore
    if (
      wasSeen ||
      (isWith ? !this.#looks.showed(theirs, at, sentAt) : isRace || this.#looks.sawFolder(theirs, sentAt))
    )
      return
    throw new Loss(
      `${path}: the ${bytes.length} bytes that another client stored were ${isWith ? `removed with ${at}` : 'overwritten'} unseen`,
    )
  }

  #isInService(bytes: Buffer): boolean {
    return [...this.#options.service.documents.values()].some((other) => other.bytes.equals(bytes))
  }
}
