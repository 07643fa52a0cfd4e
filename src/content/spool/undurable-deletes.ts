// Deletes of journal rows that are not synced yet. A power cut brings such rows back, and they would conflict with changes that
// took their place: before those are sent, the journal has to be synced. A delete of `f` that came back would delete the
// `f` saved after it.

import { foldersAbove } from '../../path.ts'

export class UndurableDeletes {
  readonly #onceDurable: (step: () => void) => void
  /** A symbol for the latest delete, by each key that a new row could share with it: spool file, path, or the keys below. */
  readonly #deletes = new Map<string, symbol>()

  constructor(onceDurable: (step: () => void) => void) {
    this.#onceDurable = onceDurable
  }

  /** Notes the delete, in the transaction under way, of a row that named documents at these paths, and this spool file. */
  noteDeleted(paths: readonly string[], spool: string | undefined): void {
    const keys = paths.flatMap((path) => [path, documentAt(path), ...foldersAbove(path).map(under)])
    this.#noteDelete(spool === undefined ? keys : [...keys, spool])
  }

  /** Notes the delete of a folder's row, which conflicts only with documents of its name. */
  noteFolderDeleted(path: string): void {
    this.#noteDelete([path])
  }

  /** Notes that a local-only file's row no longer says that its bytes are at this path in the service. */
  noteReferenceDeleted(path: string): void {
    this.#noteDelete([referenceTo(path)])
  }

  #noteDelete(keys: readonly string[]): void {
    const latest = Symbol('delete')
    for (const key of keys) this.#deletes.set(key, latest)
    this.#onceDurable(() => {
      for (const key of keys) if (this.#deletes.get(key) === latest) this.#deletes.delete(key)
    })
  }

  /** True where a power cut may bring back a row that named the spool file, one of these paths, or one above or below. */
  mayResurface(paths: readonly string[], spool: string | undefined): boolean {
    const keys = paths.flatMap((path) => [path, under(path), ...foldersAbove(path).map(documentAt)])
    return keys.some((key) => this.#deletes.has(key)) || (spool !== undefined && this.#deletes.has(spool))
  }

  /** True where a power cut may bring back a row of a local-only file that says its bytes are at this path. */
  mayResurfaceReference(path: string): boolean {
    return this.#deletes.has(referenceTo(path))
  }
}

const documentAt = (path: string): string => `document ${path}`
const under = (folder: string): string => `under ${folder}`
const referenceTo = (path: string): string => `reference ${path}`
