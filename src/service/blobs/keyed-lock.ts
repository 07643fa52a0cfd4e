// A readers-and-writer lock per key, first come, first served.

interface Holders {
  /** The last who took the key alone. */
  alone: Promise<unknown>
  /** Those who have shared it since. */
  shared: Promise<unknown>[]
}

export class KeyedLock {
  readonly #holders = new Map<string, Holders>()

  /** Runs `work` while nobody holds the key alone. */
  async share<Result>(key: string, work: () => Promise<Result>): Promise<Result> {
    const holders = this.#holdersOf(key)
    const turn = holders.alone.then(work)
    const end = turn.catch(() => undefined)
    holders.shared.push(end)
    try {
      return await turn
    } finally {
      holders.shared = holders.shared.filter((other) => other !== end)
      this.#forget(key, holders)
    }
  }

  /** Runs `work` while nobody else holds any of the keys. They are all taken at once, so that no two can wait in a ring. */
  async alone<Result>(keys: readonly string[], work: () => Promise<Result>): Promise<Result> {
    const all = keys.map((key) => this.#holdersOf(key))
    const turn = Promise.all(all.flatMap((holders) => [holders.alone, ...holders.shared])).then(work)
    const end = turn.catch(() => undefined)
    for (const holders of all) {
      holders.alone = end
      holders.shared = []
    }
    try {
      return await turn
    } finally {
      for (const [index, holders] of all.entries()) {
        if (holders.alone === end) holders.alone = nobody
        this.#forget(keys[index]!, holders)
      }
    }
  }

  #holdersOf(key: string): Holders {
    let holders = this.#holders.get(key)
    if (holders === undefined) this.#holders.set(key, (holders = { alone: nobody, shared: [] }))
    return holders
  }

  #forget(key: string, holders: Holders): void {
    if (holders.alone === nobody && holders.shared.length === 0 && this.#holders.get(key) === holders) {
      this.#holders.delete(key)
    }
  }
}

const nobody: Promise<unknown> = Promise.resolve()
