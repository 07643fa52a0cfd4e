// The newest listings stay unpacked: a program that listed a folder usually looks up every name next, and packing costs more than
// the listing. Beyond `mostBytes` the oldest are packed.

import type { ListedNames } from './listed-names.ts'

export interface JustListedOptions {
  /** Bytes that may stay unpacked; a listing that is larger is packed at once. */
  readonly mostBytes: number
  /** Called when the folder's names were packed, and take less memory. */
  packed(ino: number, names: ListedNames): void
}

export class JustListed {
  readonly #options: JustListedOptions
  /** By folder, the oldest first. */
  readonly #listed = new Map<number, { names: ListedNames; bytes: number }>()
  #bytes = 0

  constructor(options: JustListedOptions) {
    this.#options = options
  }

  /** Adds the newest listing of a folder. */
  add(ino: number, names: ListedNames): void {
    this.forget(ino)
    const { bytes } = names
    this.#listed.set(ino, { names, bytes })
    this.#bytes += bytes
    for (const [oldest, { names: old }] of this.#listed) {
      if (this.#bytes <= this.#options.mostBytes) return
      this.forget(oldest)
      old.pack()
      this.#options.packed(oldest, old)
    }
  }

  /** Called when the folder's listing is packed, replaced or dropped. */
  forget(ino: number): void {
    this.#bytes -= this.#listed.get(ino)?.bytes ?? 0
    this.#listed.delete(ino)
  }
}
