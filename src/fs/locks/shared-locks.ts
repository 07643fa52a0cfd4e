// Lock files of programs here and on other machines. One of ours is a file on this machine, as without sharing, and documents in the
// service stand for it as long as its program runs. One of another machine is shown as a file that the drive makes here.

import { fingerprintOf } from '../../content/fingerprint.ts'
import type { Reach } from '../../content/reach/reach.ts'
import { ErrnoError } from '../../errno-error.ts'
import type { Log } from '../../log.ts'
import { folderOf, nameOf } from '../../path.ts'
import type { Chance } from '../../world/chance.ts'
import type { Clock, Timer } from '../../world/clock.ts'
import type { Caller, Operations } from '../operations.ts'
import { pathIn, type Node } from '../tree/node.ts'
import { isLockName } from '../tree/scratch.ts'
import type { Looker } from '../tree/seen.ts'
import { isInTrash } from '../tree/trash.ts'
import type { Tree } from '../tree/tree.ts'
import type { ListedLocks } from './hide-lock-documents.ts'
import {
  contentOf,
  documentOf,
  isShareable,
  lockOf,
  textOf,
  timesAt,
  unwrittenText,
} from './lock-documents.ts'
import type { Found, StoredLocks } from './stored-locks.ts'

const emptyText = textOf(Buffer.alloc(0))
/** Pause between looks at our locks, while there are any (ms): whether their programs still run, and what has to be renewed. */
const betweenLooksMs = 60_000
/** A document that was over for so long (ms) is removed by whoever sees it. */
const longOverMs = 24 * 3_600_000

export interface SharedLocksOptions {
  readonly stored: StoredLocks
  /** The drive's own operations: files on this machine are made and removed by them. */
  readonly local: Operations
  readonly tree: Tree
  readonly reach: Reach
  readonly clock: Clock
  readonly chance: Chance
  readonly log: Log
  readonly listedLocks: ListedLocks
  readonly hostName: string
  /** Time (ms) for which locks in a listing are believed. */
  readonly ttlMs: number
  readonly readOnly: boolean
}

/** A lock of a program here. */
interface Own {
  readonly program: Looker
  /** As the program wrote it; undefined until then. */
  text: string | undefined
}

export class SharedLocks {
  readonly #options: SharedLocksOptions
  readonly #own = new Map<Node, Own>()
  /** Files that stand for other machines' locks, with the documents that they show. */
  readonly #others = new Map<Node, { readonly found: Found; readonly text: string }>()
  /** The work on each lock, by its path: one step after the other. */
  readonly #turns = new Map<string, Promise<unknown>>()
  readonly #drive: Caller
  readonly #endWatch: () => void
  #updated: Promise<void> = Promise.resolve()
  #timer: Timer | undefined
  #isWaiting = false
  #isClosed = false

  constructor(options: SharedLocksOptions) {
    this.#options = options
    const signal = new AbortController().signal
    this.#drive = {
      uid: process.getuid?.() ?? 0,
      gid: process.getgid?.() ?? 0,
      pid: process.pid,
      signal,
    }
    this.#endWatch = options.reach.onChange((state) => {
      if (state === 'reachable') void this.update()
    })
  }

  /** Removes what an earlier run has left: the programs that made these files have ended with it. */
  async begin(left: Iterable<Node>): Promise<void> {
    for (const node of left) if (isLockName(node.name)) await this.#removeHere(node)
    void this.update()
  }

  /** Gives back all locks. Resolves when the service knows, or cannot be asked. */
  async end(): Promise<void> {
    this.#endWatch()
    this.#own.clear()
    await this.update()
    this.#isClosed = true
    this.#options.clock.clear(this.#timer)
  }

  /** True for a name in a folder that may be a lock of several machines. The service knows nothing of a folder made here. */
  isShared(folder: Node, name: string): boolean {
    return isShareable(name) && !isInTrash(folder.path) && !isOnlyHere(folder)
  }

  /** True while a lock waits for its folder to be in the service. */
  get isWaiting(): boolean {
    return this.#isWaiting
  }

  /** Shows what the service has at this name now. Where it cannot be asked, what is known here stands. */
  look(folder: Node, name: string): Promise<void> {
    return this.#inTurn(pathIn(folder, name), () => this.#look(folder, name))
  }

  /** Shows the locks of a folder's listing; undefined if there are none. */
  showListed(folder: Node): Promise<void> | undefined {
    const { clock, listedLocks, ttlMs, readOnly, stored } = this.#options
    const listed = listedLocks.of(folder.path)
    if (listed !== undefined && clock.steady() < listed.lookedUpAt + ttlMs) return undefined
    const names = new Set<string>()
    for (const { name, parent } of this.#others.keys()) if (parent === folder) names.add(name)
    for (const { lock, until, path } of listed?.locks ?? [])
      if (until > clock.wall()) names.add(lock)
      else if (until + longOverMs < clock.wall() && !readOnly) void stored.tidy(path)
    if (listed !== undefined) listed.lookedUpAt = clock.steady()
    if (names.size === 0) return undefined
    return Promise.all([...names].map((name) => this.look(folder, name))).then(() => undefined)
  }

  /** Makes a lock file by `make`, once the service has given this machine the lock; or while it cannot be asked. */
  async create<T extends { readonly entry: { readonly attributes: { readonly ino: number } } }>(
    folder: Node,
    name: string,
    program: Looker,
    make: () => T | Promise<T>,
  ): Promise<T> {
    const { tree } = this.#options
    return this.#inTurn(pathIn(folder, name), async () => {
      if (this.isShared(folder, name)) {
        // Another machine's, shown earlier, may be gone by now.
        if (tree.keptChild(folder, name) !== undefined) await this.#look(folder, name)
        if (tree.keptChild(folder, name) === undefined && !(await this.#claim(folder, name)))
          await this.#look(folder, name)
      }
      try {
        const made = await make()
        const node = tree.nodes.find(made.entry.attributes.ino)
        if (node !== undefined) this.#adopt(node, program)
        return made
      } catch (error) {
        void this.update()
        throw error
      }
    })
  }

  /** A lock file was closed, or got its name: what it says goes to the service. Throws EEXIST where another machine has the lock. */
  async written(node: Node, program: Looker, isLast: boolean): Promise<void> {
    const { content, parent } = node
    if (parent === undefined || !node.isLocalOnly || node.isUnlinked || content === undefined) return
    if (content.size === 0 && !isLast) return
    const text = textOf(content.readAll())
    const other = this.#others.get(node)
    if (other?.text === text) return
    await this.#inTurn(node.path, async () => {
      // A person has decided to take it over.
      if (other !== undefined) await this.#options.stored.clear(node.path).catch(() => {})
      this.#others.delete(node)
      const own = this.#adopt(node, program)
      if (own === undefined || own.text === text) return
      own.text = text
      if (await this.#agree(node, own)) return
      await this.#lose(node)
      throw new ErrnoError('EEXIST', `${node.path}: another machine has it`)
    })
  }

  /** A name was taken away here, which may have been another machine's lock. */
  async removed(node: Node | undefined, path: string): Promise<void> {
    if (node !== undefined && this.#others.delete(node))
      await this.#inTurn(path, () => this.#options.stored.clear(path)).catch((error: unknown) =>
        this.#failed(path, error),
      )
    await this.update()
  }

  /** Brings the service in line with the locks here, as far as it can be asked. Never throws. */
  update(): Promise<void> {
    this.#updated = this.#updated
      .then(() => this.#update())
      .catch((error: unknown) => this.#failed('/', error))
    return this.#updated
  }

  async #update(): Promise<void> {
    this.#isWaiting = false
    for (const node of this.#others.keys()) if (node.isUnlinked) this.#others.delete(node)
    for (const [node, own] of this.#own) {
      if (node.isUnlinked || !isLockName(node.name)) this.#own.delete(node)
      else await this.#inTurn(node.path, () => this.#keepUp(node, own)).catch(() => {})
    }
    const removed = this.#options.stored.ours.map((document) =>
      this.#inTurn(lockPathOf(document), () => this.#removeIfOver(document)).catch((error: unknown) =>
        this.#failed(document, error),
      ),
    )
    await Promise.all(removed)
    this.#arm()
  }

  async #keepUp(node: Node, own: Own): Promise<void> {
    const { program, isRunning } = own.program
    const { stored, clock } = this.#options
    if (program !== undefined && isRunning?.(program) === false) {
      this.#own.delete(node)
      return await this.#removeHere(node)
    }
    const [until, next] = timesAt(clock.wall())
    const isHeld = stored.textAt(documentOf(node.path, until)) !== undefined
    // Some programs have it open as long as the document.
    if ((node.content?.size ?? 0) > 0) own.text = textOf(node.content?.readAll() ?? Buffer.alloc(0))
    const isUnwritten = own.text === undefined && isHeld
    if (isUnwritten || stored.textAt(documentOf(node.path, next)) === own.text) return
    // A lock that went, as with its folder, is not made anew.
    const found = isHeld ? await stored.find(node.path) : undefined
    if (isHeld && found === undefined) this.#own.delete(node)
    else if (!(await this.#agree(node, own))) await this.#lose(node)
  }

  async #look(folder: Node, name: string): Promise<void> {
    const { stored, tree } = this.#options
    const path = pathIn(folder, name)
    let found: Found | undefined
    try {
      found = await stored.find(path)
    } catch (error) {
      return this.#failed(path, error)
    }
    const here = tree.keptChild(folder, name)
    if (found !== undefined && stored.isOurs(found)) return
    const isHeld = timesAt(this.#options.clock.wall()).some(
      (time) => stored.textAt(documentOf(path, time)) !== undefined,
    )
    // Its program has it, although the service could not be told.
    if (here !== undefined && !this.#others.has(here) && (found === undefined || !isHeld)) return
    try {
      if (found !== undefined) await this.#show(folder, name, found)
      else if (here !== undefined) await this.#removeHere(here)
    } catch (error) {
      this.#failed(path, error)
    }
  }

  async #show(folder: Node, name: string, found: Found): Promise<void> {
    const { local, stored, tree } = this.#options
    const here = tree.keptChild(folder, name)
    const shown = here === undefined ? undefined : this.#others.get(here)
    if (shown !== undefined && isSame(shown.found, found)) return
    const text = await stored.text(found).catch(() => '')
    if (here !== undefined) await this.#removeHere(here)
    const flags = { read: true, write: true, truncate: false }
    const options = { mode: 0o644, flags, exclusive: true }
    const { entry, opened } = await local.create(folder.ino, name, options, this.#drive)
    const node = tree.nodes.find(entry.attributes.ino)
    if (node !== undefined) this.#others.set(node, { found, text })
    try {
      await local.write(opened.fh, 0, contentOf(text), this.#drive)
      await local.flush(opened.fh, this.#drive)
    } finally {
      await local.release(opened.fh)
      local.forget(entry.attributes.ino, 1)
    }
  }

  async #removeHere(node: Node): Promise<void> {
    this.#own.delete(node)
    this.#others.delete(node)
    if (node.parent !== undefined && !node.isUnlinked)
      await this.#options.local.unlink(node.parent.ino, node.name, this.#drive)
  }

  /** Asks the service for the lock. False if another machine has it; true also where the service cannot be asked. */
  async #claim(folder: Node, name: string): Promise<boolean> {
    const { stored, clock, chance, hostName } = this.#options
    const path = pathIn(folder, name)
    const now = clock.wall()
    const text = isOfficeName(name) ? emptyText : unwrittenText(hostName, now, chance.hex(8))
    try {
      if (!(await stored.make(documentOf(path, timesAt(now)[0]), text))) return false
      // Of a machine whose clock is ahead, or that has renewed it already.
      const found = await stored.find(path)
      return found === undefined || stored.isOurs(found)
    } catch (error) {
      this.#failed(path, error)
      return true
    }
  }

  /** Stores what the lock says. False if another machine has it; true also where the service cannot be asked. */
  async #agree(node: Node, { text = emptyText }: Own): Promise<boolean> {
    const { stored, clock } = this.#options
    if (node.parent === undefined || !this.isShared(node.parent, node.name)) {
      this.#isWaiting = true
      return true
    }
    const [until, next] = timesAt(clock.wall())
    try {
      for (const time of [until, next]) {
        const document = documentOf(node.path, time)
        const before = stored.textAt(document)
        if (before === undefined && !(await stored.make(document, text))) return false
        if (before !== undefined && before !== text && time === next) await stored.rewrite(document, text)
      }
    } catch (error) {
      this.#failed(node.path, error)
    }
    return true
  }

  /** Another machine has the lock: its file is shown in place of ours. */
  async #lose(node: Node): Promise<void> {
    const { parent, name, path } = node
    for (const document of this.#options.stored.ours)
      if (lockPathOf(document) === path) await this.#options.stored.remove(document).catch(() => {})
    await this.#removeHere(node)
    if (parent !== undefined) await this.#look(parent, name)
  }

  async #removeIfOver(document: string): Promise<void> {
    const isHeld = [...this.#own.keys()].some(
      (node) =>
        node.path === lockPathOf(document) &&
        timesAt(this.#options.clock.wall()).some((time) => documentOf(node.path, time) === document),
    )
    if (!isHeld) await this.#options.stored.remove(document)
  }

  #adopt(node: Node, program: Looker): Own | undefined {
    if (this.#others.has(node) || !isShareable(node.name) || isInTrash(node.path)) return undefined
    const { program: id, isRunning } = program
    const own = this.#own.get(node) ?? { program: { program: id, isRunning }, text: undefined }
    this.#own.set(node, own)
    this.#arm()
    return own
  }

  #arm(): void {
    const { clock, stored } = this.#options
    clock.clear(this.#timer)
    if (this.#isClosed || (this.#own.size === 0 && stored.ours.length === 0)) return
    this.#timer = clock.setTimeout(() => void this.update(), betweenLooksMs).unref()
  }

  async #inTurn<T>(path: string, work: () => Promise<T>): Promise<T> {
    const before = this.#turns.get(path) ?? Promise.resolve()
    const turn = before.then(work, work)
    this.#turns.set(path, turn)
    try {
      return await turn
    } finally {
      if (this.#turns.get(path) === turn) this.#turns.delete(path)
    }
  }

  /** Locks are a courtesy: no program fails for want of the service. */
  #failed(path: string, error: unknown): void {
    this.#options.log.debug({ path, error: String(error) }, 'the service was not asked about a lock')
  }
}

function isSame(one: Found, other: Found): boolean {
  return one.path === other.path && fingerprintOf(one.record) === fingerprintOf(other.record)
}

function lockPathOf(document: string): string {
  const lock = lockOf(nameOf(document))?.lock ?? ''
  return `${folderOf(document).replace(/\/$/, '')}/${lock}`
}

function isOnlyHere(folder: Node): boolean {
  for (let above: Node | undefined = folder; above !== undefined; above = above.parent)
    if (above.folder?.isOnlyHere === true) return true
  return false
}

/** Office's owner file is binary, and an empty one tells that another person has the document. */
function isOfficeName(name: string): boolean {
  return name.startsWith('~$')
}
