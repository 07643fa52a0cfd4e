// Places for work that takes long, by turns: however much one asks for, others come next, and one place is always theirs.

interface Waiting {
  begin(): void
  refuse(error: Error): void
}

export class FairTurns {
  readonly #places: number
  readonly #most: number
  readonly #tooMany: () => Error
  /** Names in the order of their next turns, with what waits under each. */
  readonly #queues = new Map<string, Waiting[]>()
  readonly #working = new Map<string, number>()
  #isClosed = false

  /** At most `most` wait, and who has most of them waiting is refused with `tooMany`. */
  constructor(places: number, most: number, tooMany: () => Error) {
    this.#places = places
    this.#most = most
    this.#tooMany = tooMany
  }

  /** Runs `work` when it is the turn of `name`. Throws the signal's reason where that comes first; `work` has to obey it on its own. */
  async take<Result>(name: string, work: () => Promise<Result>, signal: AbortSignal): Promise<Result> {
    signal.throwIfAborted()
    await this.#turn(name, signal)
    try {
      return await work()
    } finally {
      const left = (this.#working.get(name) ?? 0) - 1
      if (left > 0) this.#working.set(name, left)
      else this.#working.delete(name)
      this.#next()
    }
  }

  get waiting(): number {
    return sum([...this.#queues.values()].map(({ length }) => length))
  }

  get working(): number {
    return sum(this.#working.values())
  }

  /** No turn comes any more. */
  close(): void {
    this.#isClosed = true
  }

  #turn(name: string, signal: AbortSignal): Promise<void> {
    return new Promise((resolve, reject) => {
      const leave = (): void => {
        this.#forget(name, waiting)
        reject(signal.reason as Error)
      }
      const waiting: Waiting = {
        begin: () => {
          signal.removeEventListener('abort', leave)
          resolve()
        },
        refuse: (error) => {
          signal.removeEventListener('abort', leave)
          reject(error)
        },
      }
      signal.addEventListener('abort', leave, { once: true })
      this.#queues.set(name, [...this.#waitingOf(name), waiting])
      this.#next()
      this.#refuseOne(name)
    })
  }

  #next(): void {
    for (const [name, [first]] of this.#queues) {
      if (this.#isClosed || first === undefined || !this.#mayBegin(name)) continue
      this.#working.set(name, (this.#working.get(name) ?? 0) + 1)
      const rest = this.#waitingOf(name).slice(1)
      // Behind all others.
      this.#queues.delete(name)
      if (rest.length > 0) this.#queues.set(name, rest)
      first.begin()
    }
  }

  /** The last free place is for a name that has none. */
  #mayBegin(name: string): boolean {
    const free = this.#places - this.working
    return free > 1 || (free === 1 && !this.#working.has(name))
  }

  /** The newcomer, or the latest of the name that has more waiting, where too many do. */
  #refuseOne(newcomer: string): void {
    if (this.waiting <= this.#most) return
    let most = newcomer
    for (const [name, { length }] of this.#queues) if (length > this.#waitingOf(most).length) most = name
    const latest = this.#waitingOf(most).at(-1)!
    this.#forget(most, latest)
    latest.refuse(this.#tooMany())
  }

  #waitingOf(name: string): readonly Waiting[] {
    return this.#queues.get(name) ?? []
  }

  #forget(name: string, waiting: Waiting): void {
    const left = this.#waitingOf(name).filter((each) => each !== waiting)
    if (left.length > 0) this.#queues.set(name, left)
    else this.#queues.delete(name)
  }
}

function sum(counts: Iterable<number>): number {
  let all = 0
  for (const count of counts) all += count
  return all
}
