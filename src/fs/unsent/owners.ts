// The node whose change each intention carries. A node may have several jobs: an older one is under way while the newest waits.
// Only this code gives a node a job, or takes it away.

import { UndoableMap } from '../../content/spool/undo.ts'
import type { Job } from '../../content/commit/job.ts'
import type { Intention } from '../../content/intention.ts'
import type { SpoolFile } from '../../content/spool/spool-file.ts'
import type { Node } from '../tree/node.ts'

/** Content that was handed to the queue with a change. */
export interface HandedIn {
  readonly content: SpoolFile | undefined
  /** Epoch of the node's own content when it was handed in; undefined if the change carries an older content. */
  readonly epoch: number | undefined
}

export class Owners {
  /** By intention id. */
  readonly #nodes = new UndoableMap<number, Node>()
  readonly #ids = new UndoableMap<Node, ReadonlySet<number>>()

  of({ id }: Intention): Node | undefined {
    return this.#nodes.get(id)
  }

  /** Makes this job the node's newest change; undefined: nothing has to be sent. */
  handIn(node: Node, job: Job | undefined, { content, epoch }: HandedIn): void {
    node.unsent.handedIn(job, content, epoch)
    if (epoch !== undefined) node.local.handedIn()
    if (job !== undefined) this.#set(job.intention.id, node)
  }

  /** Like `handIn`, for a job of an earlier run. */
  restore(node: Node, job: Job): void {
    this.handIn(node, job, { content: node.content, epoch: node.content?.epoch })
    if (job.intention.keepSource === true && node.content === undefined) node.unsent.copies()
  }

  /** Notes that the node's change was taken back before it was sent. */
  withdraw(node: Node): void {
    if (node.job !== undefined) this.#set(node.job.intention.id, undefined)
    node.unsent.withdrawn()
  }

  /** Notes that another job takes the intention's place; undefined: it is over. Returns its node. */
  goesOnAs(intention: Intention, successor: Job | undefined): Node | undefined {
    const node = this.of(intention)
    this.#set(intention.id, undefined)
    if (node === undefined) return undefined
    if (successor !== undefined) this.#set(successor.intention.id, node)
    if (node.job?.intention.id === intention.id) node.unsent.goesOnAs(successor)
    return node
  }

  /** Called when the service has the node's newest change: outcomes of older jobs no longer concern the node. */
  settled(node: Node): void {
    for (const id of this.#ids.get(node) ?? []) this.#set(id, undefined)
  }

  /** Makes all jobs of one node those of another. */
  handOver(from: Node, to: Node): void {
    for (const id of this.#ids.get(from) ?? []) this.#set(id, to)
    from.unsent.goesOnAs(undefined)
  }

  #set(id: number, node: Node | undefined): void {
    const before = this.#nodes.get(id)
    if (before !== undefined) {
      const others = new Set(this.#ids.get(before))
      others.delete(id)
      if (others.size === 0) this.#ids.delete(before)
      else this.#ids.set(before, others)
    }
    if (node === undefined) {
      this.#nodes.delete(id)
      return
    }
    this.#nodes.set(id, node)
    this.#ids.set(node, new Set(this.#ids.get(node)).add(id))
  }
}
