// Names that were refused because the service takes no documents of their type. They are counted and listed in `status`, since
// the program that tried often reports another error, or none.

import type { Clock } from '../../world/clock.ts'
import { CountedLog } from '../../content/commit/counted-log.ts'
import type { Log } from '../../log.ts'
import type { Notice } from '../notice.ts'
import { UnsupportedTypeError, type TypePolicy } from '../tree/names.ts'
import type { RefusedName } from '../status.ts'
import { isAtOrUnder, pathBelow } from '../../path.ts'

/** Age and number of the refusals that are remembered. */
const rememberedMs = 24 * 3_600_000
const mostNames = 1_000

export interface RefusedNamesOptions {
  readonly types: TypePolicy
  readonly clock: Clock
  readonly log: Log
  readonly tell: (notice: Notice) => void
}

export class RefusedNames {
  readonly #options: RefusedNamesOptions
  /** Logs the first refusal of each kind of content, and counts those that follow soon. */
  readonly #log: CountedLog
  /** Refusals by path, the latest last. `what`: kind of content (`zip files (archives)`). `at`: time of the last try (epoch ms). */
  readonly #names = new Map<string, { what: string; count: number; at: number }>()

  constructor(options: RefusedNamesOptions) {
    this.#options = options
    this.#log = new CountedLog(options.log, options.clock)
  }

  /** Throws EOPNOTSUPP, and remembers the refusal, for a name whose type the service does not take. */
  check(folder: string, name: string): void {
    this.checked(pathBelow(folder, name), () => this.#options.types.checkName(name))
  }

  /** Runs another check for this path (of content, for example) and returns its answer; remembers a refusal. */
  checked<Answer>(path: string, check: () => Answer): Answer {
    const failed = (error: unknown): never => {
      if (error instanceof UnsupportedTypeError) this.#remember(path, error.what)
      throw error
    }
    try {
      const answer = check()
      return answer instanceof Promise ? (answer.catch(failed) as Answer) : answer
    } catch (error) {
      return failed(error)
    }
  }

  /** Returns the refusals, oldest first, and forgets those whose path is stored by now (`isStored`). */
  list(isStored: (path: string) => boolean): RefusedName[] {
    for (const path of this.#remembered().keys()) if (isStored(path)) this.#names.delete(path)
    const isoTime = (at: number): string => new Date(at).toISOString()
    return Array.from(this.#names, ([path, refusal]) => ({ path, ...refusal, at: isoTime(refusal.at) }))
  }

  /** Returns the kind of content that was refused at this path; undefined if none was. */
  at(path: string): string | undefined {
    return this.#remembered().get(path)?.what
  }

  /** Forgets the refusals at or under this path, since a person has read of them. Returns how many. */
  dismiss(path: string): number {
    const read = [...this.#remembered().keys()].filter((each) => isAtOrUnder(each, path))
    for (const each of read) this.#names.delete(each)
    return read.length
  }

  close(): void {
    this.#log.close()
  }

  /** The refusals, without those that are too old. */
  #remembered() {
    const since = this.#options.clock.wall() - rememberedMs
    for (const [path, { at }] of this.#names) if (at < since) this.#names.delete(path)
    return this.#names
  }

  #remember(path: string, what: string): void {
    const count = (this.#remembered().get(path)?.count ?? 0) + 1
    this.#names.delete(path)
    this.#names.set(path, { what, count, at: this.#options.clock.wall() })
    const [oldest] = this.#names.keys()
    if (this.#names.size > mostNames && oldest !== undefined) this.#names.delete(oldest)
    this.#log.warn(what, { path, what }, `refused: the service takes no ${what}`)
    // Programs try again; the person is notified once.
    if (count === 1) this.#options.tell({ kind: 'unsupported', path, what })
  }
}
