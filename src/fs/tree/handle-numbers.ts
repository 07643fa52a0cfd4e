// Table of open handles by number: the `fh` of the doors.

import { ErrnoError } from '../../errno-error.ts'

/** Highest number: fuse-native keeps an int32. 0 is no handle there. */
const mostFh = 2 ** 31 - 1

export class HandleNumbers<Handle> {
  readonly #handles = new Map<number, Handle>()
  #last = 0

  get count(): number {
    return this.#handles.size
  }

  /** Adds a handle. Returns its number, which no other open handle has. */
  add(handle: Handle): number {
    do this.#last = this.#last === mostFh ? 1 : this.#last + 1
    while (this.#handles.has(this.#last))
    this.#handles.set(this.#last, handle)
    return this.#last
  }

  /** Throws EBADF, also if the handle is not of the kind asked for. */
  get<Kind extends Handle = Handle>(fh: number, isKind?: (handle: Handle) => handle is Kind): Kind {
    const handle = this.#find(fh, isKind)
    if (handle === undefined) throw new ErrnoError('EBADF', `no such open handle: ${fh}`)
    return handle
  }

  /** Removes the handle, whose number is then free, and returns it; undefined if there is none of the kind asked for. */
  take<Kind extends Handle = Handle>(
    fh: number,
    isKind?: (handle: Handle) => handle is Kind,
  ): Kind | undefined {
    const handle = this.#find(fh, isKind)
    if (handle !== undefined) this.#handles.delete(fh)
    return handle
  }

  #find<Kind extends Handle>(fh: number, isKind?: (handle: Handle) => handle is Kind): Kind | undefined {
    const handle = this.#handles.get(fh)
    if (handle === undefined) return undefined
    return isKind === undefined || isKind(handle) ? (handle as Kind) : undefined
  }

  find(fh: number): Handle | undefined {
    return this.#handles.get(fh)
  }

  values(): Iterable<Handle> {
    return this.#handles.values()
  }
}
