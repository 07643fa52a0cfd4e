// Greatest depth of paths that the service takes. It does not tell it: a refusal does, until a deeper path is stored after all.

import { isTooDeep } from '../../api/errors.ts'
import { ErrnoError } from '../../errno-error.ts'
import { pathBelow } from '../../path.ts'

export class PathDepth {
  /** Names in the shortest path that was refused for its depth. */
  #refused = Infinity

  /** The service refused a change at this path. */
  refused(path: string, error: unknown): void {
    if (isTooDeep(error)) this.#refused = Math.min(this.#refused, depthOf(path))
  }

  /** The service has a document at this path. */
  taken(path: string): void {
    if (depthOf(path) >= this.#refused) this.#refused = Infinity
  }

  /** Throws ENAMETOOLONG for a new name whose path is at least as deep as one that was refused for its depth. */
  check(folder: string, name: string): void {
    const path = pathBelow(folder, name)
    if (depthOf(path) < this.#refused) return
    throw new ErrnoError(
      'ENAMETOOLONG',
      `${path}: the service takes at most ${this.#refused - 1} names in a path`,
    )
  }
}

function depthOf(path: string): number {
  return path.split('/').length - 1
}
