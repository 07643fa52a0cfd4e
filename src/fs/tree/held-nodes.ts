// Nodes stay while the door holds them, and the kernel holds whatever it once looked up until its own memory is short. So
// that a walk over millions of names ends nothing here, the door is asked to let go of the oldest: it forgets them, the
// nodes go, and whoever asks again finds them in the listing, most of them under their old numbers.

import type { Timers } from '../../world/clock.ts'
import type { UnusedNode, Notifier } from '../operations.ts'
import { isKept, type NodeTable } from './node-table.ts'
import type { Node } from './node.ts'

export interface HeldNodesOptions {
  readonly nodes: NodeTable
  /** Of more than this some are let go of. */
  readonly most: number
  readonly timers: Timers
  notifier(): Notifier
}

export class HeldNodes {
  readonly #options: HeldNodesOptions
  /** Nodes added since the door was asked last. */
  #added = 0
  #isAsking = false

  constructor(options: HeldNodesOptions) {
    this.#options = options
    options.nodes.onAdded = () => this.#onAdded()
  }

  #onAdded(): void {
    const { nodes, most, timers } = this.#options
    this.#added++
    // References that the door was asked for a moment ago are still on their way back: an eighth more before the next time.
    if (this.#isAsking || nodes.count <= most || this.#added < most / 8) return
    this.#isAsking = true
    timers.setImmediate(() => void this.#ask())
  }

  async #ask(): Promise<void> {
    const { nodes, most } = this.#options
    this.#added = 0
    await this.#options.notifier().dropUnused(this.#oldest(nodes.count - Math.floor((most * 3) / 4)))
    this.#isAsking = false
  }

  /** Called when the drive is quiet: asks the door to drop all nodes but an eighth of the most. Resolves when the door was told. */
  async rest(): Promise<void> {
    const { nodes, most } = this.#options
    await this.#options.notifier().dropUnused(this.#oldest(nodes.count - Math.floor(most / 8)))
  }

  /**
   * The oldest nodes that may go. Each node looked at goes to the end of the line, so that one that stays is looked
   * at again after all others.
   */
  #oldest(count: number): UnusedNode[] {
    const { nodes } = this.#options
    const found: UnusedNode[] = []
    for (const node of nodes.oldestFirst()) {
      if (found.length >= count) break
      nodes.putLast(node)
      const { ino, kind, parent, name } = node
      if (parent !== undefined && mayGo(node)) found.push({ ino, kind, parent: parent.ino, name })
    }
    return found
  }
}

/** A node that is open, or true only here, stays. */
function mayGo(node: Node): boolean {
  const { door, folder, isUnlinked } = node
  if (door.lookups === 0 || door.openHandles > 0 || isUnlinked || isKept(node)) return false
  return folder === undefined || folder.children.size === 0
}
