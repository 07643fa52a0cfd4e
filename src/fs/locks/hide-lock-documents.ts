// Hides the documents of locks in the folders that the service lists, for all that read listings: to a drive that shares locks they
// are no documents.

import type { Files } from '../../api/types.ts'
import { pathBelow } from '../../path.ts'
import { lockOf, type LockDocument } from './lock-documents.ts'

/** A lock's document in a listing. */
export interface ListedLock extends LockDocument {
  /** Path of the document. */
  readonly path: string
}

/** Locks of a folder as it was listed last. */
export interface Listed {
  readonly locks: readonly ListedLock[]
  /** When they were looked up last (steady clock, ms). */
  lookedUpAt: number
}

/** Locks that were hidden, by the folder whose listing had them. */
export class ListedLocks {
  readonly #folders = new Map<string, Listed>()

  /** Undefined for a folder without locks. */
  of(folder: string): Listed | undefined {
    return this.#folders.get(folder)
  }

  hide(folder: string, locks: readonly ListedLock[]): void {
    if (locks.length === 0) this.#folders.delete(folder)
    else this.#folders.set(folder, { locks, lookedUpAt: -Infinity })
  }
}

/** Returns the files with all listings changed. */
export function hideLockDocuments(inner: Files, listed: ListedLocks): Files {
  return {
    project: inner.project,
    async get(path, options) {
      const answer = await inner.get(path, options)
      if (answer.kind === 'file') return answer
      const locks: ListedLock[] = []
      const entries = answer.entries.filter(({ kind, name }) => {
        const lock = kind === 'file' ? lockOf(name) : undefined
        if (lock !== undefined) locks.push({ ...lock, path: pathBelow(path, name) })
        return lock === undefined
      })
      listed.hide(path, locks)
      return locks.length === 0 ? answer : { ...answer, entries }
    },
    upload: (path, upload, options) => inner.upload(path, upload, options),
    replace: (path, upload, options) => inner.replace(path, upload, options),
    delete: (path, options) => inner.delete(path, options),
    download: (url, path, range, options) => inner.download(url, path, range, options),
  }
}
