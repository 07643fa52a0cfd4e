// From the paths the binding hands out to nodes: a walk from the root, one lookup per name.

import { rootIno, type Entry, type Operations } from '../../fs/operations.ts'
import { Refusal } from '../refusal.ts'
import type { NameCache } from './name-cache.ts'
import type { NativeRequest } from './request.ts'

const longestNameBytes = 255

/** A name in a folder that is held by the request that asked. */
export interface Place {
  readonly parent: number
  readonly name: string
}

export class Paths {
  readonly #operations: Operations
  readonly #names: NameCache

  constructor(operations: Operations, names: NameCache) {
    this.#operations = operations
    this.#names = names
  }

  /** The node at a path, held by the request. Throws ENOENT, EILSEQ, ENAMETOOLONG, or what lookup throws. */
  async node(path: string, request: NativeRequest): Promise<number> {
    return this.#walk(namesOf(path), request)
  }

  /** The folder of a path, held by the request, and the last name. The root has none: EBUSY. */
  async place(path: string, request: NativeRequest): Promise<Place> {
    const names = namesOf(path)
    const name = names.pop()
    if (name === undefined) throw new Refusal('EBUSY', 'the root of a drive has no name')
    return { parent: await this.#walk(names, request), name }
  }

  async #walk(names: readonly string[], request: NativeRequest): Promise<number> {
    let ino = rootIno
    for (const name of names) {
      const known = this.#names.get(ino, name)
      if (known !== undefined) request.hold(known)
      ino = known ?? (await this.#lookup(ino, name, request))
    }
    return ino
  }

  async #lookup(parent: number, name: string, request: NativeRequest): Promise<number> {
    const changesBefore = this.#names.changes
    const entry = await this.#operations.lookup(parent, name, request)
    if (entry.attributes === undefined) {
      this.#names.drop(parent, name)
      throw new Refusal('ENOENT', name)
    }
    const { ino } = entry.attributes
    // Before the reference changes hands, so that it cannot be the last one that is given back.
    request.hold(ino)
    this.keep({ parent, name }, entry, changesBefore)
    return ino
  }

  /** Takes over the reference of an entry that was asked for when `changes` stood at `changesBefore`. */
  keep({ parent, name }: Place, entry: Entry, changesBefore: number): void {
    if (this.#names.changes === changesBefore) this.#names.keep(parent, name, entry)
    else this.#operations.forget(entry.attributes.ino, 1)
  }
}

/** The names of an absolute path. libfuse's bytes were decoded leniently, so a name with U+FFFD may be two different names. */
export function namesOf(path: string): string[] {
  const names = path.split('/').filter((name) => name !== '')
  for (const name of names) {
    if (name.includes('\uFFFD')) throw new Refusal('EILSEQ', 'the name is not valid UTF-8')
    if (Buffer.byteLength(name) > longestNameBytes) throw new Refusal('ENAMETOOLONG', name)
  }
  return names
}
