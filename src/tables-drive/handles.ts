// Open files and folders of the virtual tree by `fh`.

import { ErrnoError } from '../content/errno-error.ts'
import type { OpenFlags } from '../fs/operations.ts'
import type { Content } from './content.ts'
import type { VirtualNode } from './virtual-node.ts'

export interface FileHandle {
  readonly node: VirtualNode
  /** As it was when the file was opened: generated content may be replaced meanwhile. */
  readonly content: Content
  readonly flags: OpenFlags
}

export interface FolderHandle {
  readonly node: VirtualNode
  /** As they were when reading began; cookies count into it. */
  children: readonly VirtualNode[] | undefined
}

export class Handles {
  readonly #files = new Map<number, FileHandle>()
  readonly #folders = new Map<number, FolderHandle>()
  #last = 0

  addFile(handle: FileHandle): number {
    handle.node.openHandles++
    this.#files.set(++this.#last, handle)
    return this.#last
  }

  addFolder(handle: FolderHandle): number {
    handle.node.openHandles++
    this.#folders.set(++this.#last, handle)
    return this.#last
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

  /** The node whose handle it was. */
  remove(fh: number): VirtualNode | undefined {
    const handle = this.#files.get(fh) ?? this.#folders.get(fh)
    if (handle === undefined) return undefined
    this.#files.delete(fh)
    this.#folders.delete(fh)
    handle.node.openHandles--
    return handle.node
  }
}
