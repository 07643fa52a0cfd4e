// How much all dropped files and results may take together: the oldest that are done with make room for new ones.

import { ErrnoError } from '../errno-error.ts'
import type { VirtualNode, VirtualNodes } from './virtual-node.ts'

const maxBytes = 256 * 1024 * 1024
/** Size that even an empty file counts as, so that their number is bounded too. */
const leastBytes = 4096

export class DropQuota {
  readonly #nodes: VirtualNodes
  /** Counted bytes by file, oldest first. */
  readonly #files = new Map<VirtualNode, number>()
  #bytes = 0

  constructor(nodes: VirtualNodes) {
    this.#nodes = nodes
    nodes.onDetached = (node) => this.#release(node)
  }

  /** Counts a file of this size from now on. Throws ENOSPC when what is not done with leaves no room. */
  hold(file: VirtualNode, size: number): void {
    const counted = Math.max(leastBytes, size)
    const growth = counted - (this.#files.get(file) ?? 0)
    if (this.#bytes + growth > maxBytes) this.#makeRoom(growth, file)
    this.#files.set(file, counted)
    this.#bytes += growth
  }

  #release(file: VirtualNode): void {
    this.#bytes -= this.#files.get(file) ?? 0
    this.#files.delete(file)
  }

  #makeRoom(growth: number, except: VirtualNode): void {
    for (const file of this.#files.keys()) {
      if (this.#bytes + growth <= maxBytes) return
      if (file === except || !isDoneWith(file)) continue
      this.#nodes.detach(file)
    }
    if (this.#bytes + growth > maxBytes) {
      throw new ErrnoError('ENOSPC', 'the files dropped and not taken yet leave no room')
    }
  }
}

/** A result nobody reads, or a file its table has taken. */
function isDoneWith(file: VirtualNode): boolean {
  if (file.door.openHandles > 0 || file.taking !== undefined) return false
  const { taken, content } = file
  return taken !== undefined && taken.failure === undefined && taken.version === content?.version
}
