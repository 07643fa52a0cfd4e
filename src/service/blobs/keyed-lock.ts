// A lock per key, shared or exclusive (readers and writer), first come, first served.

interface Holders {
  /** Resolves at the end of the latest exclusive work. */
  exclusive: Promise<unknown>
  /** Shared work that was requested after that exclusive work. */
  shared: Promise<unknown>[]
}

export class KeyedLock {
  readonly #holders = new Map<string, Holders>()

  /** Runs `work` at the same time as other shared work of the key, and never with exclusive work. */
  async share<Result>(key: string, work: () => Promise<Result>): Promise<Result> {
    const holders = this.#holdersOf(key)
    const turn = holders.exclusive.then(work)
    const end = turn.catch(() => undefined)
    holders.shared.push(end)
    try {
      return await turn
    } finally {
      holders.shared = holders.shared.filter((other) => other !== end)
      this.#forget(key, holders)
    }
  }

  /** Runs `work` while no other work of any of the keys runs. All keys are taken in one step, so that there is no deadlock. */
  async exclusive<Result>(keys: readonly string[], work: () => Promise<Result>): Promise<Result> {
    const all = keys.map((key) => this.#holdersOf(key))
    const turn = Promise.all(all.flatMap((holders) => [holders.exclusive, ...holders.shared])).then(work)
    const end = turn.catch(() => undefined)
    for (const holders of all) {
      holders.exclusive = end
      holders.shared = []
    }
    try {
      return await turn
    } finally {
      for (const [index, holders] of all.entries()) {
        if (holders.exclusive === end) holders.exclusive = nobody
        this.#forget(keys[index]!, holders)
      }
    }
  }

  #holdersOf(key: string): Holders {
    let holders = this.#holders.get(key)
    if (holders === undefined) this.#holders.set(key, (holders = { exclusive: nobody, shared: [] }))
    return holders
  }

  #forget(key: string, holders: Holders): void {
    if (holders.exclusive === nobody && holders.shared.length === 0 && this.#holders.get(key) === holders) {
      this.#holders.delete(key)
    }
  }
}

/** Value of `exclusive` while no exclusive work runs or waits. */
const nobody: Promise<unknown> = Promise.resolve()
