// The memory limit of all dropped files and result files together. The oldest finished ones are removed to free space for new ones.

import { ErrnoError } from '../errno-error.ts'
import type { VirtualNode, VirtualNodes } from './virtual-node.ts'

const maxBytes = 256 * 1024 * 1024
/** Least bytes that a file counts, so that the number of empty files is limited, too. */
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

  /** Counts a file with this size. Throws ENOSPC if unfinished files take all the space. */
  setSize(file: VirtualNode, size: number): void {
    const counted = Math.max(leastBytes, size)
    const growth = counted - (this.#files.get(file) ?? 0)
    if (this.#bytes + growth > maxBytes) this.#freeSpace(growth, file)
    this.#files.set(file, counted)
    this.#bytes += growth
  }

  #release(file: VirtualNode): void {
    this.#bytes -= this.#files.get(file) ?? 0
    this.#files.delete(file)
  }

  #freeSpace(growth: number, except: VirtualNode): void {
    for (const file of this.#files.keys()) {
      if (this.#bytes + growth <= maxBytes) return
      if (file === except || !isFinished(file)) continue
      this.#nodes.detach(file)
    }
    if (this.#bytes + growth > maxBytes) {
      throw new ErrnoError('ENOSPC', 'the files dropped and not taken yet leave no room')
    }
  }
}

/** True for a file that its target has taken, and for a result file, unless a program has it open. */
function isFinished(file: VirtualNode): boolean {
  if (file.door.openHandles > 0 || file.taking !== undefined) return false
  const { taken, content } = file
  return taken !== undefined && taken.failure === undefined && taken.version === content?.version
}
