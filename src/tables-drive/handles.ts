// Open files and folders of the virtual tree, by handle number (`fh`).

import { HandleNumbers } from '../fs/tree/handle-numbers.ts'
import type { OpenFlags } from '../fs/operations.ts'
import type { Content } from './content.ts'
import type { VirtualNode } from './virtual-node.ts'

export interface FileHandle {
  readonly node: VirtualNode
  /** The content at the time of open: generated content may be replaced later. */
  readonly content: Content
  readonly flags: OpenFlags
}

export interface FolderHandle {
  readonly node: VirtualNode
  /** The children at the first readdir, undefined before it; cookies are indexes into it. */
  children: readonly VirtualNode[] | undefined
}

export class Handles {
  readonly #numbers = new HandleNumbers<FileHandle | FolderHandle>()

  add(handle: FileHandle | FolderHandle): number {
    handle.node.door.opened()
    return this.#numbers.add(handle)
  }

  /** Returns an open file. Throws EBADF. */
  file(fh: number): FileHandle {
    return this.#numbers.get(fh, (handle) => 'content' in handle)
  }

  /** Returns an open folder. Throws EBADF. */
  folder(fh: number): FolderHandle {
    return this.#numbers.get(fh, (handle) => 'children' in handle)
  }

  /** Closes a handle, and returns its node; undefined for an unknown handle. */
  remove(fh: number): VirtualNode | undefined {
    const handle = this.#numbers.take(fh)
    handle?.node.door.closed()
    return handle?.node
  }
}
