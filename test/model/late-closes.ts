// Second descriptors that a program leaves open for a moment (`cut`). Which one wrote is not asked when one is closed, as with
// any filesystem: such a close in the midst of a later write saves what is written by then, and a kill leaves that.

import { isAtOrUnder } from '../../src/path.ts'
import type { Operation } from './model.ts'

interface Descriptor {
  path: string
  /** Undefined while it is open. */
  closedAt: number | undefined
}

export class LateCloses {
  #descriptors: Descriptor[] = []

  /** One may be opened at the path at that time (ms); answers whom to tell when it is closed, and when that is. */
  opened(path: string, now: number): (at: number) => void {
    const descriptor: Descriptor = { path, closedAt: undefined }
    // Descriptors closed by now matter to no operation that begins later.
    this.#descriptors = this.#descriptors.filter(({ closedAt = Infinity }) => closedAt >= now)
    this.#descriptors.push(descriptor)
    return (at) => {
      descriptor.closedAt = at
    }
  }

  /** It was done: a descriptor goes with its document, and saves none that has no name any more. */
  done(operation: Operation): void {
    const { kind, path } = operation
    if (kind === 'unlink') this.#descriptors = this.#descriptors.filter((each) => each.path !== path)
    if (kind !== 'rename') return
    const { to } = operation
    this.#descriptors = this.#descriptors.filter((each) => !isAtOrUnder(each.path, to))
    for (const each of this.#descriptors)
      if (isAtOrUnder(each.path, path)) each.path = to + each.path.slice(path.length)
  }

  /** True where one of the document was closed since then. */
  hasClosed(path: string, since: number): boolean {
    return this.#descriptors.some(({ path: at, closedAt = -Infinity }) => at === path && closedAt >= since)
  }
}
