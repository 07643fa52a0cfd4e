// A folder that another client works in, too. Each content is told from every other by its length; what the other client
// stored may go by a call of the drive's only where it is elsewhere by then, or where a program here had been able to see it.

import type { Chance } from '../model/chance.ts'
import { Loss } from '../model/loss.ts'
import type { Calls } from '../support/door.ts'
import type { ServiceModel } from './service-model.ts'

export const sharedFolder = '/shared'

/** So many documents are written there. */
export const sharedNames = 4
const keptOperations = 500
/** More than any document there is long. */
const mostBytes = 1_000_000
/** How long a delete rests before it is sent, at most, and what its call takes (ms). */
const deleteRestMs = 5_000
/** A document may be gone, and a drive may be dead, at any time. */
const passing = new Set([
  'EIO',
  'ETIMEDOUT',
  'EBUSY',
  'EAGAIN',
  'ENOSPC',
  'EACCES',
  'ENOENT',
  'ENOTCONN',
  'ESTALE',
])

interface Done {
  readonly paths: readonly string[]
  readonly beganAt: number
  /** What the drive was shown until then its program could have seen. Infinity: not over yet, or not known. */
  endedAt: number
  readonly takesAway: boolean
}

interface Theirs {
  readonly path: string
  readonly bytes: Buffer
  readonly storedAt: number
}

export interface SharedFolderOptions {
  readonly service: ServiceModel
  readonly calls: () => Calls
  readonly now: () => number
  /** What the drive shows is at most so old (ms). */
  readonly cacheTtlMs: number
  /** True while the drive looks at what it is about to replace there: the race that the interface leaves open. */
  readonly isSending: (path: string) => boolean
  /** How often a program here appends, beside all the rest. */
  readonly appends: number
  readonly note: (line: string) => void
}

export class SharedFolder {
  readonly #options: SharedFolderOptions
  #lastLength = 20
  #lastScratch = 0
  /** Every content that was ever here, by its length. */
  readonly #contents = new Map<number, Buffer>()
  /** Versions of the other client's, by the service's number. */
  readonly #theirs = new Map<number, Theirs>()
  /** What was saved here last, where the other client has not taken it away. */
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
  #done: Done[] = []
  /** Their versions that are kept beside ours. */
  conflicts = 0

  constructor(options: SharedFolderOptions) {
    this.#options = options
    options.service.onDestroyed = (id) => this.#destroyed(id)
    options.service.isSending = options.isSending
  }

  /** The other client stores, replaces or deletes a document. */
  otherActs(chance: Chance): boolean {
    const { service, isSending, note, now } = this.#options
    const path = this.#path(chance)
    if (isSending(path)) return false
    const before = service.documents.get(path)
    const isDelete = before !== undefined && chance.random() < 0.3
    if (before !== undefined) {
      service.remove(path)
      this.#theirs.delete(before.id)
      if (this.#ours.get(path)?.equals(before.bytes) === true) this.#ours.delete(path)
      const { length } = before.bytes
      // What is still at its older place is about to go there: it had come to where it was taken away.
      const hadCome = this.#renamedTo.get(path)?.has(length) === true
      if (hadCome || !this.#isInService(before.bytes)) this.#takenAway.add(length)
    }
    note(`the other client ${isDelete ? 'deletes' : 'stores'} ${path}`)
    if (isDelete) return true
    const bytes = this.#content(chance)
    const stored = service.store(path, bytes)
    if (stored !== undefined) this.#theirs.set(stored.id, { path, bytes, storedAt: now() })
    return true
  }

  /** A program here does something. */
  async act(chance: Chance): Promise<void> {
    const { note, appends } = this.#options
    const path = this.#path(chance)
    const kind = chance.weighted({ write: 5, save: 3, rename: 2, unlink: 1, read: 4, append: appends })
    note(`${kind} ${path}`)
    try {
      if (kind === 'write') await this.#write(path, this.#content(chance), path)
      else if (kind === 'save') {
        const scratch = `${sharedFolder}/.goutputstream-${++this.#lastScratch}`
        await this.#write(path, this.#content(chance), scratch)
      } else if (kind === 'rename') await this.#rename(path, this.#path(chance))
      else if (kind === 'unlink') {
        const done = this.#begin([path], true)
        await this.#options.calls().unlink(path)
        done.endedAt = this.#options.now()
      } else if (kind === 'append') await this.#append(path, chance)
      else await this.#look(path)
    } catch (error) {
      if (!passing.has((error as NodeJS.ErrnoException).code ?? '')) throw error
    }
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

  /** What was under way when the power went may be there or not. */
  forget(): void {
    this.#ours.clear()
    this.#outdated.clear()
    this.#lastSaved.clear()
  }

  async #write(path: string, bytes: Buffer, through: string): Promise<void> {
    const done = this.#begin([path], false)
    await this.#options.calls().writeFile(through, bytes)
    if (through !== path) await this.#options.calls().rename(through, path)
    this.#saved(path, bytes, done)
  }

  /** What a program has read goes on behind that, or not at all. */
  async #append(path: string, chance: Chance): Promise<void> {
    const done = this.#begin([path], false)
    const outdated = new Set(this.#outdated.get(path))
    const file = await this.#options.calls().open(path, 'r+')
    let whole: Buffer
    try {
      const before = await file.read(mostBytes, 0)
      this.#check(path, before, outdated)
      whole = this.#content(chance, before)
      await file.write(whole.subarray(before.length), before.length)
    } finally {
      await file.close()
    }
    this.#saved(path, whole, done)
  }

  #saved(path: string, bytes: Buffer, done: Done): void {
    done.endedAt = this.#options.now()
    this.#ours.set(path, bytes)
    const before = this.#lastSaved.get(path)
    this.#lastSaved.set(path, bytes.length)
    if (before === undefined) return
    const outdated = this.#outdated.get(path) ?? new Set()
    this.#outdated.set(path, outdated.add(before))
  }

  async #rename(path: string, to: string): Promise<void> {
    if (path === to) return
    const moved = this.#ours.get(path)
    // It may bring back what was moved away from there.
    this.#outdated.delete(to)
    this.#lastSaved.delete(to)
    const done = this.#begin([path, to], true)
    if (moved !== undefined) this.#renamedTo.set(to, new Set(this.#renamedTo.get(to)).add(moved.length))
    await this.#options.calls().rename(path, to)
    done.endedAt = this.#options.now()
    if (moved !== undefined) this.#ours.set(to, moved)
  }

  async #look(path: string): Promise<void> {
    const outdated = new Set(this.#outdated.get(path))
    this.#check(path, await this.#options.calls().readFile(path), outdated)
  }

  /** `outdated`: before it was read. */
  #check(path: string, shown: Buffer, outdated: ReadonlySet<number>): void {
    // An open that failed after it had emptied the document.
    if (shown.length === 0) return
    this.#read.add(shown.length)
    if (outdated.has(shown.length))
      throw new Loss(`${path}: ${shown.length} bytes are shown that were saved before what was saved last`)
    if (this.#contents.get(shown.length)?.equals(shown) !== true)
      throw new Loss(`${path}: ${shown.length} bytes that nobody has written`)
  }

  /** Until it is done, what is there is in doubt. */
  #begin(paths: readonly string[], takesAway: boolean): Done {
    for (const path of paths) this.#ours.delete(path)
    const done = { paths, beganAt: this.#options.now(), endedAt: Infinity, takesAway }
    this.#done.push(done)
    if (this.#done.length > keptOperations) this.#done = this.#done.slice(-keptOperations / 2)
    return done
  }

  #destroyed(id: number): void {
    const theirs = this.#theirs.get(id)
    if (theirs === undefined) return
    this.#theirs.delete(id)
    const { service, now, cacheTtlMs } = this.#options
    const { path, bytes, storedAt } = theirs
    if (this.#isInService(bytes)) {
      this.conflicts++
      return
    }
    const shownAt = service.shownAt.get(id) ?? Infinity
    const wasSeen =
      this.#read.has(bytes.length) ||
      this.#done.some(({ paths, endedAt }) => paths.includes(path) && endedAt > shownAt)
    // A delete goes by what was shown when it was asked for, and is sent after a rest without another look.
    const isRace = now() - storedAt <= cacheTtlMs + deleteRestMs && this.#done.some(
      ({ paths, takesAway, beganAt }) =>
        takesAway && paths.includes(path) && beganAt > storedAt - deleteRestMs,
    ) // prettier-ignore
    if (!wasSeen && !isRace)
      throw new Loss(`${path}: the ${bytes.length} bytes that another client stored were overwritten unseen`)
  }

  #isInService(bytes: Buffer): boolean {
    return [...this.#options.service.documents.values()].some((other) => other.bytes.equals(bytes))
  }

  #path(chance: Chance): string {
    return `${sharedFolder}/n${chance.below(sharedNames)}.txt`
  }

  #content(chance: Chance, beginning: Buffer = Buffer.alloc(0)): Buffer {
    this.#lastLength += 1 + chance.below(50)
    const bytes = Buffer.concat([beginning, chance.bytes(this.#lastLength - beginning.length)])
    this.#contents.set(bytes.length, bytes)
    return bytes
  }
}
