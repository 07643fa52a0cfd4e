// Empty documents that a LOCK of a free name created. They outlast their lock (RFC 4918, section 7.3), so their number per client
// is limited, however short its locks are. A document that was filled, removed or unlocked does not count.

export class EmptyDocuments {
  readonly #maxPerClient: number
  /** Paths by client. */
  readonly #paths = new Map<string, Set<string>>()

  constructor(maxPerClient: number) {
    this.#maxPerClient = maxPerClient
  }

  add(path: string, client: string): void {
    const paths = this.#paths.get(client) ?? new Set()
    this.#paths.set(client, paths.add(path))
  }

  remove(path: string): void {
    for (const [client, paths] of this.#paths)
      if (paths.delete(path) && paths.size === 0) this.#paths.delete(client)
  }

  /** True if the client may create another one. At the limit, those are dropped for which `isEmpty` is false. */
  async canAdd(client: string, isEmpty: (path: string) => Promise<boolean>): Promise<boolean> {
    const paths = this.#paths.get(client)
    if (paths === undefined || paths.size < this.#maxPerClient) return true
    for (const path of paths) if (!(await isEmpty(path))) this.remove(path)
    return paths.size < this.#maxPerClient
  }
}
