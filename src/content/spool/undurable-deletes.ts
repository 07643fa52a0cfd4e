// Rows of the journal that ended a moment ago. Until that is on disk a power cut brings them back, and they would meet what took
// their place: who sends that waits for the disk first.

import { foldersAbove } from '../../path.ts'

export class UndurableDeletes {
  readonly #onceDurable: (step: () => void) => void
  /** By spool file, by path, and by what a document at a path is in the way of; each with its latest end. */
  readonly #ends = new Map<string, symbol>()

  constructor(onceDurable: (step: () => void) => void) {
    this.#onceDurable = onceDurable
  }

  /** A row that named documents at these paths, and this spool file, ends with the transaction under way. */
  ended(paths: readonly string[], spool: string | undefined): void {
    const keys = paths.flatMap((path) => [path, documentAt(path), ...foldersAbove(path).map(under)])
    this.#end(spool === undefined ? keys : [...keys, spool])
  }

  /** The same of a folder: it is in nobody's way but of what has its name. */
  endedFolder(path: string): void {
    this.#end([path])
  }

  /** The same of what a local-only file's row said: that the service has its bytes at this path. */
  endedReference(path: string): void {
    this.#end([referenceTo(path)])
  }

  #end(keys: readonly string[]): void {
    const end = Symbol('end')
    for (const key of keys) this.#ends.set(key, end)
    this.#onceDurable(() => {
      for (const key of keys) if (this.#ends.get(key) === end) this.#ends.delete(key)
    })
  }

  /** True where a power cut may bring back a row that named one of them, a document above, or one below. */
  mayResurface(paths: readonly string[], spool: string | undefined): boolean {
    const keys = paths.flatMap((path) => [path, under(path), ...foldersAbove(path).map(documentAt)])
    return keys.some((key) => this.#ends.has(key)) || (spool !== undefined && this.#ends.has(spool))
  }

  /** True where a power cut may bring back a row that says its bytes are at this path. */
  mayResurfaceReference(path: string): boolean {
    return this.#ends.has(referenceTo(path))
  }
}

const documentAt = (path: string): string => `document ${path}`
const under = (folder: string): string => `under ${folder}`
const referenceTo = (path: string): string => `reference ${path}`
