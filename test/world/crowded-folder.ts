// A folder in which several programs work on the same few names at once. What each call answers is held against the orders in
// which the calls can have happened; what is in it when all is quiet is in the service, and nothing else is.

import type { Chance } from '../model/chance.ts'
import { Loss } from '../model/loss.ts'
import { isScratch } from '../model/model.ts'
import type { Calls } from '../support/door.ts'
import { PossibleOrders, type Effect } from './possible-orders.ts'
import type { ServiceModel } from './service-model.ts'

export const crowdedFolder = '/crowd'
export const crowd = 3
const names = ['a.txt', 'b.txt', 'c.txt', 'a.txt~'] as const
const taste = { save: 5, rename: 3, backup: 1, unlink: 2, read: 4, stat: 2, 'read slowly': 2 }
/** A content of this kind goes to a file of its own. */
const largeBytes = 150_000
const longestReadMs = 3_000
/** What a call may meet: done, or not. */
const passing = new Set(['EIO', 'ETIMEDOUT', 'EBUSY', 'EAGAIN', 'ENOSPC', 'EACCES', 'ENOTCONN', 'ESTALE'])

/** The content at each name, by its length. */
type Shown = ReadonlyMap<string, number>

export interface CrowdedFolderOptions {
  readonly service: ServiceModel
  readonly calls: () => Calls
  readonly pause: (ms: number) => Promise<void>
  readonly onAction: () => void
  readonly note: (line: string) => void
}

export class CrowdedFolder {
  readonly #options: CrowdedFolderOptions
  readonly #contents = new Map<number, Buffer>()
  readonly #orders = new PossibleOrders<Shown>(new Map(), (shown) =>
    names.map((name) => shown.get(pathOf(name))).join(),
  )
  #lastScratch = 0

  constructor(options: CrowdedFolderOptions) {
    this.#options = options
  }

  /** A program does something. */
  async act(chance: Chance): Promise<void> {
    const path = pathOf(chance.pick(names))
    const kind = chance.weighted(taste)
    this.#options.onAction()
    if (kind === 'save') return this.#save(path, this.#content(chance))
    if (kind === 'rename') return void (await this.#rename(path, pathOf(chance.pick(names))))
    if (kind === 'unlink') return this.#unlink(path)
    if (kind === 'stat') return this.#stat(path)
    if (kind === 'read') return void (await this.#read(path, 0))
    if (kind === 'read slowly') return void (await this.#read(path, chance.random() * longestReadMs))
    const content = this.#content(chance)
    if (await this.#rename(pathOf('a.txt'), pathOf('a.txt~'))) await this.#save(pathOf('a.txt'), content)
  }

  /** After a power cut, which takes back what nobody was told to be durable: what shows is the beginning. */
  async beginAnew(): Promise<void> {
    this.#orders.known(await this.#shown())
  }

  /** No call is under way, and nothing is unsent. */
  async check(): Promise<void> {
    const shown = new Map<string, number>()
    for (const name of names) {
      const path = pathOf(name)
      const answer = await this.#read(path, 0)
      // Looked at again, a few times.
      if (answer === undefined) throw Object.assign(new Error(`${path} cannot be read`), { code: 'EIO' })
      if (answer !== 'ENOENT') shown.set(path, Number(answer))
    }
    const { documents } = this.#options.service
    for (const name of names) {
      const path = pathOf(name)
      const stored = documents.get(path)?.bytes.length
      const isHere = isScratch(path) && stored === undefined
      if (stored !== shown.get(path) && !isHere)
        throw new Loss(
          `${path}: ${stored ?? 'no'} bytes in the service, ${shown.get(path) ?? 'none'} are shown`,
        )
    }
    for (const path of documents.keys()) {
      const isOurs = names.some((name) => pathOf(name) === path) || isScratch(path)
      if (path.startsWith(`${crowdedFolder}/`) && !isOurs)
        throw new Loss(`${path} is in the service, and nobody has made it`)
    }
  }

  async #save(path: string, content: Buffer): Promise<void> {
    const { calls, note } = this.#options
    const scratch = `${crowdedFolder}/.goutputstream-${++this.#lastScratch}`
    note(`save ${path} ${content.length} bytes`)
    try {
      await calls().writeFile(scratch, content)
    } catch (error) {
      if (!passing.has(codeOf(error))) throw error
      return
    }
    await this.#call(
      `save ${path} ${content.length} bytes`,
      (shown) => ({ state: new Map(shown).set(path, content.length), answer: 'done' }),
      () => this.#moved(scratch, path),
    )
  }

  /** Answers whether there was something to be renamed. */
  async #rename(path: string, to: string): Promise<boolean> {
    this.#options.note(`rename ${path} → ${to}`)
    const answer = await this.#call(
      `rename ${path} → ${to}`,
      (shown) => {
        const length = shown.get(path)
        if (length === undefined) return { state: shown, answer: 'ENOENT' }
        const state = new Map(shown)
        state.delete(path)
        return { state: state.set(to, length), answer: 'done' }
      },
      () => this.#moved(path, to),
    )
    return answer === 'done'
  }

  async #moved(path: string, to: string): Promise<void> {
    await this.#look(path)
    await this.#look(to)
    await this.#options.calls().rename(path, to)
  }

  /** As kernel and WebDAV do before they take a name away: the version that a listing tells without its size is asked for it (1000112). */
  async #look(path: string): Promise<void> {
    const { calls, service } = this.#options
    if (service.habits.tellsSizes) return
    try {
      await calls().stat(path)
    } catch (error) {
      if (codeOf(error) !== 'ENOENT') throw error
    }
  }

  async #unlink(path: string): Promise<void> {
    this.#options.note(`unlink ${path}`)
    await this.#call(
      `unlink ${path}`,
      (shown) => {
        const state = new Map(shown)
        return { state, answer: state.delete(path) ? 'done' : 'ENOENT' }
      },
      async () => {
        await this.#look(path)
        await this.#options.calls().unlink(path)
      },
    )
  }

  async #stat(path: string): Promise<void> {
    await this.#call(
      `stat ${path}`,
      lengthOf(path),
      async () => (await this.#options.calls().stat(path)).size,
    )
  }

  /** Its length, or ENOENT; undefined where nobody can tell. Read a while after it was opened. */
  #read(path: string, afterMs: number): Promise<string | undefined> {
    const { calls, pause } = this.#options
    return this.#call(`read ${path}`, lengthOf(path), async () => {
      const file = await calls().open(path, 'r')
      try {
        if (afterMs > 0) await pause(afterMs)
        return this.#known(path, await file.read(2 * largeBytes, 0))
      } finally {
        await file.close()
      }
    })
  }

  /** Runs a call. Throws a Loss where what it answers cannot be. */
  async #call(
    what: string,
    effect: Effect<Shown>,
    run: () => Promise<number | void>,
  ): Promise<string | undefined> {
    const call = this.#orders.begin(effect)
    let answer: string | undefined
    let code = ''
    try {
      answer = String((await run()) ?? 'done')
    } catch (error) {
      code = codeOf(error)
      if (error instanceof Loss || (code !== 'ENOENT' && !passing.has(code))) throw error
      answer = code === 'ENOENT' ? code : undefined
    }
    this.#options.note(`${what}: ${answer ?? code}`)
    if (!this.#orders.end(call, answer))
      throw new Loss(`${what} answers ${answer}, and in no order of the calls it can`)
    return answer
  }

  async #shown(): Promise<Shown> {
    const shown = new Map<string, number>()
    for (const name of await this.#options.calls().readdir(crowdedFolder)) {
      const path = pathOf(name)
      if (!isAmong(name)) continue
      shown.set(path, this.#known(path, await this.#options.calls().readFile(path)))
    }
    return shown
  }

  /** The length of a content that was written here. */
  #known(path: string, bytes: Buffer): number {
    if (this.#contents.get(bytes.length)?.equals(bytes) !== true)
      throw new Loss(`${path}: ${bytes.length} bytes that nobody has written`)
    return bytes.length
  }

  #content(chance: Chance): Buffer {
    const number = this.#contents.size + 1
    const content = chance.bytes(chance.random() < 0.2 ? largeBytes + number : number)
    this.#contents.set(content.length, content)
    return content
  }
}

function lengthOf(path: string): Effect<Shown> {
  return (shown) => ({ state: shown, answer: String(shown.get(path) ?? 'ENOENT') })
}

function pathOf(name: string): string {
  return `${crowdedFolder}/${name}`
}

function isAmong(name: string): boolean {
  return names.some((each) => each === name)
}

function codeOf(error: unknown): string {
  return (error as NodeJS.ErrnoException).code ?? ''
}
