// Documents that a LOCK of a free name made, and that nobody filled: they outlast their lock (RFC 4918, section 7.3), so a
// client may leave so many of them and no more, however short its locks are. One that is unlocked is a document its client
// wanted.

export class LockMade {
  readonly #mostOfOne: number
  /** Of each client, the paths. */
  readonly #paths = new Map<string, Set<string>>()

  constructor(mostOfOne: number) {
    this.#mostOfOne = mostOfOne
  }

  add(path: string, client: string): void {
    const paths = this.#paths.get(client) ?? new Set()
    this.#paths.set(client, paths.add(path))
  }

  remove(path: string): void {
    for (const [client, paths] of this.#paths)
      if (paths.delete(path) && paths.size === 0) this.#paths.delete(client)
  }

  /** False where the client may make no more. `isEmpty`: asked of each when there are too many. */
  async hasRoom(client: string, isEmpty: (path: string) => Promise<boolean>): Promise<boolean> {
    const paths = this.#paths.get(client)
    if (paths === undefined || paths.size < this.#mostOfOne) return true
    for (const path of paths) if (!(await isEmpty(path))) this.remove(path)
    return paths.size < this.#mostOfOne
  }
}
