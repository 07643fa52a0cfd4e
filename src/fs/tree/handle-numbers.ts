// Handles by the number a door knows them by.

import { ErrnoError } from '../../errno-error.ts'

/** fuse-native keeps an int32, and 0 is no handle there. */
const mostFh = 2 ** 31 - 1

export class HandleNumbers<Handle> {
  readonly #handles = new Map<number, Handle>()
  #last = 0

  get count(): number {
    return this.#handles.size
  }

  /** A number that no open handle has. */
  add(handle: Handle): number {
    do this.#last = this.#last === mostFh ? 1 : this.#last + 1
    while (this.#handles.has(this.#last))
    this.#handles.set(this.#last, handle)
    return this.#last
  }

  /** Throws EBADF, also where the handle is not of the kind asked for. */
  get<Kind extends Handle = Handle>(fh: number, isKind?: (handle: Handle) => handle is Kind): Kind {
    const handle = this.#find(fh, isKind)
    if (handle === undefined) throw new ErrnoError('EBADF', `no such open handle: ${fh}`)
    return handle
  }

  /** The handle, whose number is free again. */
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
