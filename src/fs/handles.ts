// Open files and folders by `fh`: one handle is one open(). Content and dirt belong to the node, never to the handle.

import { fingerprintOf } from '../content/fingerprint.ts'
import { ErrnoError } from '../content/errno-error.ts'
import type { Reading } from '../content/reader.ts'
import type { Node } from './node.ts'
import type { OpenFlags } from './operations.ts'

/** fuse-native keeps an int32, and 0 is no handle there. */
const mostFh = 2 ** 31 - 1

export class FileHandle {
  readonly node: Node
  readonly flags: OpenFlags
  /** Reads the version the node showed when this handle first read it. */
  reading: Reading | undefined
  #fingerprint: string | undefined

  constructor(node: Node, flags: OpenFlags) {
    this.node = node
    this.flags = flags
  }

  /** Remembers which version `reading` is of. */
  bind(reading: Reading): void {
    this.reading = reading
    this.#fingerprint = this.node.remote === undefined ? undefined : fingerprintOf(this.node.remote)
  }

  /** Our own commit made another version of the same content: read that from now on. */
  rebind(): void {
    this.reading?.close()
    this.reading = undefined
    this.#fingerprint = undefined
  }

  /** The fingerprint of the version being read. */
  get fingerprint(): string | undefined {
    return this.#fingerprint
  }
}

export class FolderHandle {
  readonly node: Node
  /** Names as they were when reading began; cookies count into it. */
  names: readonly string[] | undefined
  /** Nodes made for this reading only, looked at again when it ends. */
  readonly touched: Node[] = []

  constructor(node: Node) {
    this.node = node
  }
}

export class HandleTable {
  readonly #files = new Map<number, FileHandle>()
  readonly #folders = new Map<number, FolderHandle>()
  #last = 0

  get count(): number {
    return this.#files.size + this.#folders.size
  }

  addFile(handle: FileHandle): number {
    const fh = this.#next()
    this.#files.set(fh, handle)
    handle.node.openHandles++
    if (handle.flags.write) handle.node.writeHandles++
    return fh
  }

  addFolder(handle: FolderHandle): number {
    const fh = this.#next()
    this.#folders.set(fh, handle)
    handle.node.openHandles++
    return fh
  }

  /** Throws EBADF. */
  file(fh: number): FileHandle {
    const handle = this.#files.get(fh)
    if (handle === undefined) throw new ErrnoError('EBADF', `no open file ${fh}`)
    return handle
  }

  /** Throws EBADF. */
  folder(fh: number): FolderHandle {
    const handle = this.#folders.get(fh)
    if (handle === undefined) throw new ErrnoError('EBADF', `no open folder ${fh}`)
    return handle
  }

  /** All handles of a node's content. */
  *of(node: Node): Iterable<FileHandle> {
    for (const handle of this.#files.values()) if (handle.node === node) yield handle
  }

  removeFile(fh: number): FileHandle | undefined {
    const handle = this.#files.get(fh)
    if (handle === undefined) return undefined
    this.#files.delete(fh)
    handle.reading?.close()
    handle.node.openHandles--
    if (handle.flags.write) handle.node.writeHandles--
    return handle
  }

  removeFolder(fh: number): FolderHandle | undefined {
    const handle = this.#folders.get(fh)
    if (handle === undefined) return undefined
    this.#folders.delete(fh)
    handle.node.openHandles--
    return handle
  }

  #next(): number {
    do this.#last = this.#last === mostFh ? 1 : this.#last + 1
    while (this.#files.has(this.#last) || this.#folders.has(this.#last))
    return this.#last
  }
}
