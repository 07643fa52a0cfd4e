// Limits concurrent long work, and shares it fairly between names: each name waits in a queue of its own, the queues take turns,
// and the last free place never goes to a name that has one.

interface Waiting {
  begin(): void
  refuse(error: Error): void
}

export class FairTurns {
  readonly #places: number
  readonly #maxWaiting: number
  readonly #tooMany: () => Error
  /** Waiting work by name; the names are in the order of their next turns. */
  readonly #queues = new Map<string, Waiting[]>()
  /** Count of running work by name. */
  readonly #running = new Map<string, number>()
  #isClosed = false

  /** `places`: concurrent work. Beyond `maxWaiting` the name with most waiting work loses its latest, with `tooMany()`. */
  constructor(places: number, maxWaiting: number, tooMany: () => Error) {
    this.#places = places
    this.#maxWaiting = maxWaiting
    this.#tooMany = tooMany
  }

  /** Runs `work` when it is the turn of `name`. Throws the signal's reason if it aborts first; `work` has to watch it itself. */
  async take<Result>(name: string, work: () => Promise<Result>, signal: AbortSignal): Promise<Result> {
    signal.throwIfAborted()
    await this.#turn(name, signal)
    try {
      return await work()
    } finally {
      const left = (this.#running.get(name) ?? 0) - 1
      if (left > 0) this.#running.set(name, left)
      else this.#running.delete(name)
      this.#next()
    }
  }

  get waitingCount(): number {
    return sum([...this.#queues.values()].map(({ length }) => length))
  }

  get runningCount(): number {
    return sum(this.#running.values())
  }

  /** Starts no more work; waiting work waits until its signal aborts. */
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
      this.#running.set(name, (this.#running.get(name) ?? 0) + 1)
      const rest = this.#waitingOf(name).slice(1)
      // Behind all other names.
      this.#queues.delete(name)
      if (rest.length > 0) this.#queues.set(name, rest)
      first.begin()
    }
  }

  /** The last free place is for a name without running work. */
  #mayBegin(name: string): boolean {
    const free = this.#places - this.runningCount
    return free > 1 || (free === 1 && !this.#running.has(name))
  }

  /** If too many wait, refuses the latest of the name that has most waiting; the newcomer, unless another has more. */
  #refuseOne(newcomer: string): void {
    if (this.waitingCount <= this.#maxWaiting) return
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
