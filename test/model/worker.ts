// One program at work in a folder of its own: random operations, each checked against the model at once. Only it writes
// there, so that what the drive shows is known exactly at all times, whatever the service makes of it.

import { described } from '../support/trees.ts'
import type { Calls, Stat } from '../support/door.ts'
import type { Chance } from './chance.ts'
import { Choices, type Action, type Sizes, type Taste } from './choices.ts'
import { isLocalOnly, Model, perform, type Operation } from './model.ts'
import { LateCloses } from './late-closes.ts'
import { Loss } from './loss.ts'
import { SetTimes } from './set-times.ts'

/** Errors that a program may meet while the service misbehaves; no others. */
const passingErrors = new Set(['EIO', 'ETIMEDOUT', 'EBUSY', 'EAGAIN'])
/** Errors that it may meet when the daemon is killed under it: a dead mount, or the empty folder beneath. */
const deadErrors = new Set(['ENOENT', 'ENOTCONN', 'ECONNABORTED', 'EIO', 'ETIMEDOUT', 'ENODEV', 'EINTR'])

export interface WorkerOptions {
  readonly renamesFolders: boolean
  readonly folder: string
  readonly chance: Chance
  readonly calls: () => Calls
  /** Counts the daemon's lives; undefined while it is dead. */
  readonly life: () => number | undefined
  readonly onAction: (action: Action) => void
  /** Milliseconds, and a wait of so many; those of this machine unless a test says otherwise. */
  readonly now?: () => number
  readonly pause?: (ms: number) => Promise<unknown>
  /** The disk refuses, or has refused since that time (ms): what was truncated first stays so where the write then fails. */
  readonly isDiskUnwell?: (since: number) => boolean
  /** How often a document is read again that was right before and was not changed since, 0 to 1; always where absent. */
  readonly readsAgain?: number
  /** It makes no more than this. */
  readonly mostDocuments?: number
  readonly mostFolders?: number
  /** How often it does what. */
  readonly taste?: Taste
  readonly sizes?: Sizes
  /** Errors that it may meet besides. */
  readonly mayMeet?: readonly string[]
}

/** Changes that nobody asked to be durable are so after this long (ms), with room for the sync itself. */
const durableWithin = (doesDiskFail: boolean): number => (doesDiskFail ? 12_000 : 2_000)

export class Worker {
  readonly folder: string
  model: Model
  readonly #options: WorkerOptions
  readonly #choices: Choices
  readonly #passing: ReadonlySet<string>
  readonly #dead: ReadonlySet<string>
  /** Contents that were read and were right, by path. */
  readonly #seen = new Map<string, Buffer>()
  readonly #times = new SetTimes()
  readonly #lateCloses = new LateCloses()
  /** An operation that failed or was cut off: done, not done, or in part. */
  #inDoubt: Operation | undefined
  /** The model before each operation that a power cut may take back, oldest first. */
  #revocable: { readonly at: number; readonly model: Model; readonly kind: Operation['kind'] }[] = []
  /** The content before the last operation, if that only emptied a document, and the daemon's life it was done in. */
  #emptied: { readonly path: string; readonly content: Buffer; readonly life: number | undefined } | undefined
  /** The daemon died under it. */
  #wasKilled = false
  /** The write under way may have failed before that. */
  #mayBePart = false
  /** Another descriptor of the document was closed in the midst of it: that saves what was written by then (seed 1000617). */
  #wasSavedInPart = false
  /** Folders that showed on after an rmdir which failed while the service may have removed them: a later look may tell. */
  readonly #mayBeGone = new Set<string>()
  /** The save that a failing disk answered with EIO: its program was not told that it is saved, and saves again. */
  #again: Operation | undefined

  constructor(options: WorkerOptions) {
    this.#options = options
    this.folder = options.folder
    this.model = new Model()
    this.#passing = new Set([...passingErrors, ...(options.mayMeet ?? [])])
    this.#dead = new Set([...this.#passing, ...deadErrors])
    this.#choices = new Choices(options.folder, options.chance, options)
  }

  get calls(): Calls {
    return this.#options.calls()
  }

  /** One operation, several as an editor makes them, or a look. */
  async act(): Promise<void> {
    if (this.#inDoubt !== undefined) await this.#resolve(this.#inDoubt)
    if (this.#inDoubt !== undefined) return
    if (this.#again !== undefined) {
      const again = this.#again
      this.#again = undefined
      if (!(await this.#do(again))) this.#again = again
      return
    }
    for (const action of this.#choices.next(this.model)) {
      if (action.kind === 'rest') await this.#options.pause?.(action.ms)
      else if (!(await this.perform(action))) return
    }
  }

  /** Answers false where its outcome is in doubt. */
  perform(action: Action): Promise<boolean> {
    if (action.kind === 'read') return this.#read(action.path)
    return action.kind === 'touch' ? this.#touch(action.path, action.mtimeSec) : this.#do(action)
  }

  /** Saves again what the disk refused, as a program does that was told so. Answers whether nothing is in doubt. */
  async catchUp(): Promise<boolean> {
    if (this.#inDoubt !== undefined) await this.#resolve(this.#inDoubt)
    if (this.#inDoubt !== undefined) return false
    const again = this.#again
    this.#again = undefined
    return again === undefined || this.#do(again)
  }

  /** Compares the whole folder; decides what was in doubt first. Answers whether it could. */
  async check(what: string): Promise<boolean> {
    if (this.#inDoubt !== undefined) await this.#resolve(this.#inDoubt)
    if (this.#inDoubt !== undefined) return false
    const shown = await this.#shown(what)
    this.#noteGone(shown)
    const before = this.#beforeEmptied()
    if (before !== undefined && areSame(shown, before.tree)) this.model = before
    if (before !== undefined) this.#emptied = undefined
    compare(`${what}: ${this.folder}`, shown, this.model.tree)
    this.#wasRight()
    return true
  }

  /**
   * A document that was only emptied may hold its content before, after a kill: its last close saves it, which the kernel tells the
   * drive of when its program goes on already.
   */
  #beforeEmptied(): Model | undefined {
    const emptied = this.#emptied
    if (emptied === undefined || emptied.life === this.#options.life()) return undefined
    const model = this.model.copy()
    model.apply({ kind: 'write', path: emptied.path, content: emptied.content })
    return model
  }

  #noteGone(shown: ReadonlyMap<string, unknown>): void {
    for (const path of this.#mayBeGone)
      if (!shown.has(path) && this.model.under(path).length === 1) this.model.apply({ kind: 'rmdir', path })
  }

  /** The same without the service: of what is not here, its name and size. */
  async checkNames(what: string): Promise<void> {
    const shown = new Map<string, string>()
    await this.#walk(
      (path, { kind, size }) => void shown.set(path, kind === 'folder' ? 'a folder' : `${size} bytes`),
    )
    this.#noteGone(shown)
    const wanted = [...this.model.tree].map(([path, content]): [string, string] => [
      path,
      content === undefined ? 'a folder' : `${content.length} bytes`,
    ])
    const lines = differences(Object.fromEntries(shown), Object.fromEntries(wanted))
    if (lines.length > 0) throw new Loss([`${what}: ${this.folder}`, ...lines].join('\n'))
  }

  /** Everything in its folder but conflict copies, a folder before what is in it. */
  async #walk(visit: (path: string, stat: Stat) => unknown, folder: string = this.folder): Promise<void> {
    for (const name of await this.calls.readdir(folder)) {
      const path = `${folder}/${name}`
      if (isConflictCopy(path)) continue
      const stat = await this.calls.stat(path)
      if (await this.#isGone(path)) continue
      await visit(path, stat)
      if (stat.kind === 'folder') await this.#walk(visit, path)
    }
  }

  /** It is listed by what was known before, and who looks into it is told (1100768). */
  async #isGone(folder: string): Promise<boolean> {
    if (!this.#mayBeGone.has(folder)) return false
    try {
      await this.calls.readdir(folder)
      return false
    } catch (error) {
      const { code } = error as NodeJS.ErrnoException
      if (code !== 'ENOENT' && code !== 'ENOTDIR') throw error
      // A document has its name by now, whose save was cut off (1602205).
      return code === 'ENOENT'
    }
  }

  async #shown(what: string): Promise<Map<string, Buffer | undefined>> {
    const shown = new Map<string, Buffer | undefined>()
    await this.#walk(async (path, { kind, size, mtimeNs }) => {
      this.#times.check(what, path, mtimeNs)
      shown.set(path, kind === 'folder' ? undefined : await this.#contentOf(path, size, what))
    })
    return shown
  }

  async #contentOf(path: string, size: number, what: string): Promise<Buffer> {
    const { chance, readsAgain = 1 } = this.#options
    const right = this.#seen.get(path)
    const isAsBefore = right?.length === size && right === this.model.tree.get(path)
    if (isAsBefore && chance.random() >= readsAgain) return right
    try {
      return await this.calls.readFile(path)
    } catch (error) {
      const { code, message } = error as NodeJS.ErrnoException
      throw Object.assign(new Loss(`${what}: ${path} is listed and cannot be read: ${message}`), { code })
    }
  }

  /** Everything is read at the next look. */
  forgetSeen(): void {
    this.#seen.clear()
  }

  #wasRight(): void {
    this.#seen.clear()
    for (const [path, content] of this.model.tree) if (content !== undefined) this.#seen.set(path, content)
  }

  async #do(operation: Operation): Promise<boolean> {
    const life = this.#options.life()
    const begunAt = this.#now()
    this.#options.onAction(operation)
    const closed = operation.kind === 'cut' ? this.#lateCloses.opened(operation.path, begunAt) : undefined
    try {
      await perform(this.calls, operation, this.#options.pause, () => closed?.(this.#now()))
    } catch (error) {
      const { code } = error as NodeJS.ErrnoException
      const expected = life !== undefined && this.#options.life() === life ? this.#passing : this.#dead
      if (code === 'ENOENT' && this.#hasGone(operation.path)) return false
      if (!expected.has(code ?? ''))
        throw new Loss(`${operation.kind} ${operation.path} failed: ${(error as Error).message}`)
      this.#inDoubt = operation
      this.#times.changed(operation)
      this.#mayBePart = this.#options.isDiskUnwell?.(begunAt) === true
      this.#wasKilled = this.#options.life() !== life
      this.#wasSavedInPart = this.#lateCloses.hasClosed(operation.path, begunAt)
      return false
    }
    const content = isEmptying(operation) ? this.model.tree.get(operation.path) : undefined
    this.#emptied = content === undefined ? undefined : { path: operation.path, content, life }
    const kind = isDurable(operation) ? operation.kind : 'truncate'
    this.#mayBeRevoked(operation, kind)
    this.model.apply(operation)
    this.#times.done(operation, begunAt)
    this.#lateCloses.done(operation)
    for (const path of this.#mayBeGone)
      if (operation.path === path || operation.path.startsWith(`${path}/`)) this.#mayBeGone.delete(path)
    if (isDurable(operation)) this.#revocable = this.#revocable.slice(this.#firstUnsynced())
    return true
  }

  /** It is about to be done in the model: a power cut may take it back. */
  #mayBeRevoked(operation: Operation, kind: Operation['kind']): void {
    const at = this.#now()
    this.#revocable.push({ at, model: this.model.copy(), kind })
    if (operation.kind !== 'cut while closing') return
    // Two calls, and a power cut may come between what is left of them.
    const between = this.model.copy()
    between.apply({ ...operation, kind: 'write' })
    this.#revocable.push({ at, model: between, kind })
  }

  /** A folder at or above the path that an rmdir which failed has removed after all: it is seen now. */
  #hasGone(path: string): boolean {
    const gone = [...this.#mayBeGone].find((folder) => path === folder || path.startsWith(`${folder}/`))
    if (gone === undefined || this.model.under(gone).length > 1) return false
    this.#mayBeGone.delete(gone)
    this.model.apply({ kind: 'rmdir', path: gone })
    return true
  }

  /** A change that is journaled without a sync may go though a later one has reached the service. */
  #firstUnsynced(): number {
    const now = this.#now()
    const since = now - durableWithin(this.#options.isDiskUnwell?.(now) === true)
    const first = this.#revocable.findIndex(({ kind, at }) => !durableKinds.has(kind) && at >= since)
    return first === -1 ? this.#revocable.length : first
  }

  #now(): number {
    return (this.#options.now ?? Date.now)()
  }

  /** After a kill, where a save that the disk refused may be there or not: what is shown is it. Answers whether it is so. */
  async takeAsShown(): Promise<boolean> {
    if (this.#again === undefined) return false
    this.#again = undefined
    this.#emptied = undefined
    this.#inDoubt = undefined
    this.#times.forgetSince(-Infinity)
    this.model = new Model(await this.#shown('after a refused save'))
    return true
  }

  /**
   * The power was cut at that time: what was accepted as durable is there, of what came after it anything may be. A disk
   * that fails is asked again, until it does not.
   */
  async decideAfterCut(cutAt: number, didDiskFail = false): Promise<void> {
    const since = cutAt - durableWithin(didDiskFail)
    this.#times.forgetSince(since)
    const last = this.#revocable.findLastIndex(({ at }) => at < since)
    const possible = [...this.#revocable.slice(last + 1).map(({ model }) => model), this.model]
    if (this.#inDoubt !== undefined) possible.push(this.model.copy())
    if (this.#inDoubt !== undefined) possible.at(-1)?.apply(this.#inDoubt)
    const cutOff = this.#inDoubt
    // The version that was cut off may be as long as the one that was right before.
    if (cutOff !== undefined) this.forgetSeen()
    this.#revocable = []
    this.#emptied = undefined
    this.#inDoubt = undefined
    this.#again = undefined
    const shown = await this.#shown('after a power cut')
    this.#noteGone(shown)
    for (const path of new Set([...shown.keys(), ...possible.flatMap(({ tree }) => [...tree.keys()])])) {
      if (isLocalOnly(path)) continue
      const found = restricted(shown, path)
      if (possible.some(({ tree }) => areSame(found, restricted(tree, path)))) continue
      const bytes = found.get(path)
      if (cutOff?.path === path && bytes !== undefined && isPart(bytes, cutOff, this.model.tree.get(path)))
        continue
      compare('after a power cut', found, restricted(this.model.tree, path))
    }
    this.model = new Model(shown)
    this.#wasRight()
  }

  /** The drive shows what became of it: it must be one of the states that POSIX allows. */
  async #resolve(operation: Operation): Promise<void> {
    const after = this.model.copy()
    after.apply(operation)
    const paths = new Set(
      [operation.path, ...(operation.kind === 'rename' ? [operation.to] : [])].flatMap((path) => [
        path,
        ...this.model.under(path),
        ...after.under(path),
      ]),
    )
    const shown = new Map<string, Buffer | undefined>()
    try {
      for (const path of paths) {
        const stat = await this.calls.stat(path).catch((error: NodeJS.ErrnoException) => {
          if (error.code === 'ENOENT' || error.code === 'ENOTDIR') return undefined
          throw error
        })
        if (stat !== undefined)
          shown.set(path, stat.kind === 'folder' ? undefined : await this.calls.readFile(path))
      }
    } catch {
      return
    }
    this.#inDoubt = undefined
    const at = operation.kind === 'rename' ? operation.to : operation.path
    const held = shown.get(at)
    if (this.#mayBePart && held !== undefined) this.#again = { kind: 'write', path: at, content: held }
    const restricted = (model: Model): Map<string, Buffer | undefined> =>
      new Map([...model.tree].filter(([path]) => paths.has(path)))
    const before = this.#beforeEmptied()
    const isEmptiedHere = before !== undefined && paths.has(this.#emptied?.path ?? '')
    if (isEmptiedHere) {
      this.#emptied = undefined
      const then = before.copy()
      then.apply(operation)
      const found = [before, then].find((model) => areSame(shown, restricted(model)))
      if (found !== undefined) return void (this.model = found)
    }
    if (areSame(shown, restricted(this.model))) {
      if (operation.kind === 'rmdir') this.#mayBeGone.add(operation.path)
      return
    }
    if (areSame(shown, restricted(after))) {
      this.#mayBeRevoked(operation, 'truncate')
      this.model = after
      this.#lateCloses.done(operation)
      return
    }
    const found = shown.get(operation.path)
    // A version that was never closed is not there after a kill: the one that was accepted last is.
    const isInPart =
      (!this.#wasKilled ||
        this.#mayBePart ||
        this.#wasSavedInPart ||
        operation.kind === 'hand on' ||
        operation.kind === 'cut while closing') &&
      found !== undefined &&
      isPart(found, operation, this.model.tree.get(operation.path))
    if (isInPart) {
      this.#mayBeRevoked(operation, 'truncate')
      this.model.apply({ kind: 'write', path: operation.path, content: found })
      return
    }
    compare(
      `${operation.kind} ${operation.path} that was cut off, neither before nor after`,
      shown,
      restricted(after),
    )
  }

  /** Sets a document's modification time. A call that fails may have set it or not. */
  async #touch(path: string, mtimeSec: number): Promise<boolean> {
    const life = this.#options.life()
    this.#options.onAction({ kind: 'touch', path, mtimeSec })
    this.#times.forget(path)
    try {
      await this.calls.utimes(path, mtimeSec, mtimeSec)
    } catch (error) {
      const expected = life !== undefined && this.#options.life() === life ? this.#passing : this.#dead
      if (expected.has((error as NodeJS.ErrnoException).code ?? '')) return false
      throw new Loss(`touch ${path} failed: ${(error as Error).message}`)
    }
    this.#times.set(path, mtimeSec, this.#now())
    return true
  }

  async #read(path: string): Promise<boolean> {
    const life = this.#options.life()
    this.#options.onAction({ kind: 'read', path })
    let shown: Buffer
    try {
      shown = await this.calls.readFile(path)
    } catch (error) {
      const expected = life !== undefined && this.#options.life() === life ? this.#passing : this.#dead
      if (expected.has((error as NodeJS.ErrnoException).code ?? '')) return false
      throw new Loss(`read ${path} failed: ${(error as Error).message}`)
    }
    compare('read', new Map([[path, shown]]), new Map([[path, this.model.tree.get(path)]]))
    return true
  }
}

/** Where only one program writes there is nothing to be in conflict with: these are counted, not compared. */
export function isConflictCopy(path: string): boolean {
  return / \(conflict [^/]*\)[^/]*$/.test(path)
}

function areSame(
  one: ReadonlyMap<string, Buffer | undefined>,
  other: ReadonlyMap<string, Buffer | undefined>,
): boolean {
  if (one.size !== other.size) return false
  for (const [path, content] of one) {
    const wanted = other.get(path)
    if (!other.has(path) || (content === undefined ? wanted !== undefined : wanted?.equals(content) !== true))
      return false
  }
  return true
}

function restricted(
  tree: ReadonlyMap<string, Buffer | undefined>,
  path: string,
): Map<string, Buffer | undefined> {
  return new Map(tree.has(path) ? [[path, tree.get(path)]] : [])
}

const durableKinds: ReadonlySet<string> = new Set(['write', 'write slowly', 'hand on', 'append', 'rename'])

/** Its success says that a power cut takes neither it nor anything before it back. */
function isDurable({ kind, ...operation }: Operation): boolean {
  // A file that is only created is a name, as a folder is.
  if ('content' in operation && operation.content.length === 0) return false
  const path = 'to' in operation ? operation.to : operation.path
  return durableKinds.has(kind) && !isLocalOnly(path)
}

/** It leaves an empty document, and writes nothing. */
function isEmptying(operation: Operation): boolean {
  return (
    ['write', 'write slowly', 'hand on'].includes(operation.kind) &&
    'content' in operation &&
    operation.content.length === 0
  )
}

/** A write that was cut off may have arrived in part. */
function isPart(found: Buffer, operation: Operation, before: Buffer | undefined): boolean {
  if (
    ['write', 'write slowly', 'hand on', 'cut while closing'].includes(operation.kind) &&
    'content' in operation
  )
    return operation.content.subarray(0, found.length).equals(found)
  if (operation.kind !== 'append') return false
  return Buffer.concat([before ?? Buffer.alloc(0), operation.content])
    .subarray(0, found.length)
    .equals(found)
}

/** Throws a Loss that says what differs. */
export function compare(
  what: string,
  found: ReadonlyMap<string, Buffer | undefined>,
  wanted: ReadonlyMap<string, Buffer | undefined>,
): void {
  if (areSame(found, wanted)) return
  throw new Loss([what, ...differences(described(found), described(wanted))].join('\n'))
}

/** A line for each path that is another than it should be. */
function differences(
  is: Readonly<Record<string, string>>,
  shouldBe: Readonly<Record<string, string>>,
): string[] {
  return [...new Set([...Object.keys(is), ...Object.keys(shouldBe)])]
    .filter((path) => is[path] !== shouldBe[path])
    .map((path) => `  ${path}: ${is[path] ?? 'nothing'}, should be ${shouldBe[path] ?? 'nothing'}`)
}
