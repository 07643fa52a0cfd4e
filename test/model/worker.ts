// One program at work in a folder of its own: random operations, each checked against the model at once. Only it writes
// there, so that what the drive shows is known exactly at all times, whatever the service makes of it.

import { described } from '../support/trees.ts'
import type { Calls } from '../support/door.ts'
import type { Chance } from './chance.ts'
import { Choices, type Action } from './choices.ts'
import { Model, perform, type Operation } from './model.ts'

/** Something was lost, doubled or resurrected. */
export class Loss extends Error {
  override readonly name = 'Loss'
}

/** What a program may meet while the service misbehaves, and nothing else. */
const passingErrors = new Set(['EIO', 'ETIMEDOUT', 'EBUSY', 'EAGAIN'])
/** What it meets when the daemon is killed under it: a dead mount, or the empty folder beneath. */
const deadErrors = new Set(['ENOENT', 'ENOTCONN', 'ECONNABORTED', 'EIO', 'ETIMEDOUT', 'ENODEV', 'EINTR'])

export interface WorkerOptions {
  readonly renamesFolders: boolean
  readonly folder: string
  readonly chance: Chance
  readonly calls: () => Calls
  /** Counts the daemon's lives; undefined while it is dead. */
  readonly life: () => number | undefined
  readonly onAction: (action: Action) => void
}

export class Worker {
  readonly folder: string
  model: Model
  readonly #options: WorkerOptions
  readonly #choices: Choices
  /** An operation that failed or was cut off: done, not done, or in part. */
  #inDoubt: Operation | undefined
  /** The daemon died under it. */
  #wasKilled = false

  constructor(options: WorkerOptions) {
    this.#options = options
    this.folder = options.folder
    this.model = new Model()
    this.#choices = new Choices(options.folder, options.chance, options)
  }

  get calls(): Calls {
    return this.#options.calls()
  }

  /** One operation, several as an editor makes them, or a look. */
  async act(): Promise<void> {
    if (this.#inDoubt !== undefined) await this.#resolve(this.#inDoubt)
    if (this.#inDoubt !== undefined) return
    for (const action of this.#choices.next(this.model)) {
      if (!(await (action.kind === 'read' ? this.#read(action.path) : this.#do(action)))) return
    }
  }

  /** Compares the whole folder; settles what was in doubt first. Answers whether it could. */
  async check(what: string): Promise<boolean> {
    if (this.#inDoubt !== undefined) await this.#resolve(this.#inDoubt)
    if (this.#inDoubt !== undefined) return false
    const shown = new Map<string, Buffer | undefined>()
    const walk = async (folder: string): Promise<void> => {
      for (const name of await this.calls.readdir(folder)) {
        const path = `${folder}/${name}`
        if (isConflictCopy(path)) continue
        const { kind } = await this.calls.stat(path)
        shown.set(path, kind === 'folder' ? undefined : await this.#contentOf(path, what))
        if (kind === 'folder') await walk(path)
      }
    }
    await walk(this.folder)
    compare(`${what}: ${this.folder}`, shown, this.model.tree)
    return true
  }

  async #contentOf(path: string, what: string): Promise<Buffer> {
    try {
      return await this.calls.readFile(path)
    } catch (error) {
      throw new Loss(`${what}: ${path} is listed and cannot be read: ${(error as Error).message}`)
    }
  }

  async #do(operation: Operation): Promise<boolean> {
    const life = this.#options.life()
    this.#options.onAction(operation)
    try {
      await perform(this.calls, operation)
    } catch (error) {
      const { code } = error as NodeJS.ErrnoException
      const expected = life !== undefined && this.#options.life() === life ? passingErrors : deadErrors
      if (!expected.has(code ?? ''))
        throw new Loss(`${operation.kind} ${operation.path} failed: ${(error as Error).message}`)
      this.#inDoubt = operation
      this.#wasKilled = this.#options.life() !== life
      return false
    }
    this.model.apply(operation)
    return true
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
    const restricted = (model: Model): Map<string, Buffer | undefined> =>
      new Map([...model.tree].filter(([path]) => paths.has(path)))
    if (areSame(shown, restricted(this.model))) return
    if (areSame(shown, restricted(after))) {
      this.model = after
      return
    }
    const found = shown.get(operation.path)
    // What was never closed is not there after a kill: the version that was accepted last is.
    const isInPart =
      !this.#wasKilled && found !== undefined && isPart(found, operation, this.model.tree.get(operation.path))
    if (isInPart) {
      this.model.apply({ kind: 'write', path: operation.path, content: found })
      return
    }
    compare(
      `${operation.kind} ${operation.path} that was cut off, neither before nor after`,
      shown,
      restricted(after),
    )
  }

  async #read(path: string): Promise<boolean> {
    const life = this.#options.life()
    this.#options.onAction({ kind: 'read', path })
    let shown: Buffer
    try {
      shown = await this.calls.readFile(path)
    } catch (error) {
      const expected = life !== undefined && this.#options.life() === life ? passingErrors : deadErrors
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

/** A write that was cut off may have arrived in part. */
function isPart(found: Buffer, operation: Operation, before: Buffer | undefined): boolean {
  if (operation.kind === 'write' || operation.kind === 'write slowly')
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
  const [is, shouldBe] = [described(found), described(wanted)]
  const lines = [...new Set([...Object.keys(is), ...Object.keys(shouldBe)])]
    .filter((path) => is[path] !== shouldBe[path])
    .map((path) => `  ${path}: ${is[path] ?? 'nothing'}, should be ${shouldBe[path] ?? 'nothing'}`)
  throw new Loss(`${what}\n${lines.join('\n')}`)
}
