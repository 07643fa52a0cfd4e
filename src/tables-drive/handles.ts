// Open files and folders of the virtual tree by `fh`.

import { HandleNumbers } from '../fs/tree/handle-numbers.ts'
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
  readonly #numbers = new HandleNumbers<FileHandle | FolderHandle>()

  add(handle: FileHandle | FolderHandle): number {
    handle.node.door.opened()
    return this.#numbers.add(handle)
  }

  /** Throws EBADF. */
  file(fh: number): FileHandle {
    return this.#numbers.get(fh, (handle) => 'content' in handle)
  }

  /** Throws EBADF. */
  folder(fh: number): FolderHandle {
    return this.#numbers.get(fh, (handle) => 'children' in handle)
  }

  /** The node whose handle it was. */
  remove(fh: number): VirtualNode | undefined {
    const handle = this.#numbers.take(fh)
    handle?.node.door.closed()
    return handle?.node
  }
}
