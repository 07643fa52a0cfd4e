// libfuse 2 keeps an open file that is deleted or renamed over alive by renaming it to `.fuse_hidden…`, and deletes that
// name at the last close. Here: which names those are, and what was hidden where, so that a rename that fails afterwards
// does not leave the name it was to replace without its document.

import { basename } from 'node:path'

/** True for a name that libfuse made up; listings leave it out. */
export function isHiddenName(name: string): boolean {
  return /^\.fuse_hidden[0-9a-f]{16,}$/.test(name)
}

export class HiddenFiles {
  /** From the path a file had to the path it was hidden at. */
  readonly #hiddenAt = new Map<string, string>()

  /** Notes a rename that succeeded. */
  renamed(from: string, to: string): void {
    this.#hiddenAt.delete(to)
    if (isHiddenName(basename(to))) this.#hiddenAt.set(from, to)
  }

  /**
   * Somebody looks at the path or makes it anew. Hidden for a rename, the rename itself is libfuse's very next call; a look
   * in between means the path was deleted, and must stay so.
   */
  lookedAt(path: string): void {
    if (this.#hiddenAt.size > 0) this.#hiddenAt.delete(path)
  }

  /** Where the file is that a rename to `path` was to replace, if libfuse hid one for it. Answers once. */
  takeReplaced(path: string): string | undefined {
    const hidden = this.#hiddenAt.get(path)
    this.#hiddenAt.delete(path)
    return hidden
  }
}
