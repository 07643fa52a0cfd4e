// Files that libfuse 2 hides: it renames an open file that is deleted or replaced by a rename to `.fuse_hidden…`, and deletes
// that name at the last close. They are recorded here, so that after a rename that failed the document that it should have
// replaced gets its name back.

import { basename } from 'node:path'

/** True for such a name; listings leave it out. */
export function isHiddenName(name: string): boolean {
  return /^\.fuse_hidden[0-9a-f]{16,}$/.test(name)
}

export class HiddenFiles {
  /** Path of a hidden file, by the path it had before. */
  readonly #hiddenAt = new Map<string, string>()

  /** Records a rename that succeeded. */
  noteRename(from: string, to: string): void {
    this.#hiddenAt.delete(to)
    if (isHiddenName(basename(to))) this.#hiddenAt.set(from, to)
  }

  /**
   * Records a getattr or create of the path: then its file was hidden for a delete, and must stay deleted. After hiding a file
   * for a rename, libfuse's very next call is that rename.
   */
  noteUse(path: string): void {
    if (this.#hiddenAt.size > 0) this.#hiddenAt.delete(path)
  }

  /** Removes and returns the path at which libfuse hid the file that a rename to `path` replaces, if it did. */
  takeReplaced(path: string): string | undefined {
    const hidden = this.#hiddenAt.get(path)
    this.#hiddenAt.delete(path)
    return hidden
  }
}
