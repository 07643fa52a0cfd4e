// Resolves the binding's paths to nodes: a walk from the root, with one lookup per name that is not cached.

import { rootIno, type Entry, type Operations } from '../../fs/operations.ts'
import { Refusal } from '../refusal.ts'
import type { NameCache } from './name-cache.ts'
import type { NativeRequest } from './request.ts'

const longestNameBytes = 255

/** The parent folder's node, referenced by the request, and a name in it. */
export interface ParentAndName {
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

  /** Resolves with the node at a path, referenced by the request. Throws ENOENT, EILSEQ, ENAMETOOLONG, and errors of lookup. */
  async node(path: string, request: NativeRequest): Promise<number> {
    return this.#walk(namesOf(path), request)
  }

  /** Resolves with a path's folder, referenced by the request, and its last name. Throws EBUSY for the root, and as `node` does. */
  async parentAndName(path: string, request: NativeRequest): Promise<ParentAndName> {
    const names = namesOf(path)
    const name = names.pop()
    if (name === undefined) throw new Refusal('EBUSY', 'the root of a drive has no name')
    return { parent: await this.#walk(names, request), name }
  }

  async #walk(names: readonly string[], request: NativeRequest): Promise<number> {
    let ino = rootIno
    for (const name of names) {
      const known = this.#names.get(ino, name)
      if (known !== undefined) request.holdNode(known)
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
    // Before `cache`, which may give back the entry's own reference: the node must keep one.
    request.holdNode(ino)
    this.cache({ parent, name }, entry, changesBefore)
    return ino
  }

  /** Takes over an entry's reference, and caches it if `NameCache.changes` is still `changesBefore`. */
  cache({ parent, name }: ParentAndName, entry: Entry, changesBefore: number): void {
    if (this.#names.changes === changesBefore) this.#names.put(parent, name, entry)
    else this.#operations.forget(entry.attributes.ino, 1)
  }
}

/** Returns the names of an absolute path. Throws EILSEQ for U+FFFD, as which the binding decodes any invalid byte. */
export function namesOf(path: string): string[] {
  const names = path.split('/').filter((name) => name !== '')
  for (const name of names) {
    if (name.includes('\uFFFD')) throw new Refusal('EILSEQ', 'the name is not valid UTF-8')
    if (Buffer.byteLength(name) > longestNameBytes) throw new Refusal('ENAMETOOLONG', name)
  }
  return names
}
