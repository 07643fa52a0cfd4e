// A folder in which another client works and a program here reads: what each read answers is held against what stood there,
// and when. A read may show what was current at some moment since the listing that it may go by was asked for, and never
// what is older than a read before it has shown.

import type { Chance } from '../model/chance.ts'
import { Loss } from '../model/loss.ts'
import type { Calls } from '../support/door.ts'
import type { ServiceModel } from './service-model.ts'

export const watchedFolder = '/watched'
const names = 2
/** Errors that a read may meet. */
const passing = new Set(['EIO', 'ETIMEDOUT', 'EBUSY', 'EAGAIN', 'EACCES', 'ENOSPC', 'ENOTCONN', 'ESTALE'])

/** Undefined: nothing was there. */
interface State {
  readonly bytes: Buffer | undefined
  readonly since: number
}

export interface WatchedFolderOptions {
  readonly service: ServiceModel
  readonly calls: () => Calls
  readonly now: () => number
  readonly pause: (ms: number) => Promise<void>
  /** Has the folder listed anew. Never rejects. */
  readonly refresh: () => Promise<void>
  /** A read shows what was asked for at most so long ago (ms), where the service was not away since the read began. */
  readonly oldestMs: number
  /** When the drive last took the service to be away. */
  readonly awayAt: () => number
  readonly note: (line: string) => void
}

export class WatchedFolder {
  readonly #options: WatchedFolderOptions
  /** The states of each path, oldest first. */
  readonly #states = new Map<string, State[]>()
  /** The number of the state that was shown last. */
  readonly #shown = new Map<string, number>()
  #lastLength = 1

  constructor(options: WatchedFolderOptions) {
    this.#options = options
    for (let name = 0; name < names; name++)
      this.#states.set(`${watchedFolder}/t${name}.txt`, [{ bytes: undefined, since: -Infinity }])
  }

  /** The other client stores, replaces or deletes a document. */
  otherActs(chance: Chance, path = this.#path(chance)): void {
    const { service, now, note } = this.#options
    const states = this.#states.get(path) ?? []
    if (service.remove(path)) states.push({ bytes: undefined, since: now() })
    if (chance.random() < 0.8) {
      const bytes = chance.bytes((this.#lastLength += 1 + chance.below(20)))
      if (service.store(path, bytes) !== undefined) states.push({ bytes, since: now() })
    }
    note(`the other client: ${path}, ${states.at(-1)?.bytes?.length ?? 'no'} bytes`)
  }

  /** A program here reads, or somebody has the folder listed again and again, and reads then. */
  async act(chance: Chance): Promise<void> {
    const path = this.#path(chance)
    if (chance.random() < 0.6) return this.#look(path)
    const { refresh, pause } = this.#options
    void refresh()
    await pause(chance.random() * 200)
    this.otherActs(chance, path)
    void refresh()
    for (let look = 0; look < 4; look++) {
      await pause(chance.random() * 1_000)
      await this.#look(path)
    }
  }

  async #look(path: string): Promise<void> {
    const { calls, now, note } = this.#options
    const floor = this.#shown.get(path) ?? 0
    const beganAt = now()
    let bytes: Buffer | undefined
    try {
      bytes = await calls().readFile(path)
    } catch (error) {
      const { code = '' } = error as NodeJS.ErrnoException
      if (passing.has(code)) return
      if (code !== 'ENOENT') throw error
    }
    note(`watched ${path}: ${bytes?.length ?? 'no'} bytes`)
    this.#check(path, bytes, beganAt, floor)
  }

  /** Another start may go by listings that were saved before: what was shown since is nobody's to know. */
  forget(): void {
    this.#shown.clear()
  }

  #check(path: string, bytes: Buffer | undefined, beganAt: number, floor: number): void {
    const { oldestMs, awayAt, service, now } = this.#options
    const states = this.#states.get(path) ?? []
    const isIt = (state: State): boolean =>
      bytes === undefined ? state.bytes === undefined : state.bytes?.equals(bytes) === true
    const found = states.findLastIndex(isIt)
    const what = `${path}: ${bytes?.length ?? 'no'} bytes are shown`
    if (found === -1) throw new Loss(`${what} that nobody has stored`)
    // Listings that lag may show any of the states in between again.
    if (service.habits.lagMs === 0 && found < floor) throw new Loss(`${what} after what came later`)
    const goneAt = states[found + 1]?.since ?? Infinity
    if (awayAt() < beganAt && goneAt < beganAt - oldestMs)
      throw new Loss(`${what}, which went ${Math.round(now() - goneAt)} ms ago`)
    this.#shown.set(path, Math.max(found, this.#shown.get(path) ?? 0))
  }

  #path(chance: Chance): string {
    return `${watchedFolder}/t${chance.below(names)}.txt`
  }
}
