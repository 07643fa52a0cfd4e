// Whose change each intention carries: what ties a node to its jobs, of which it may have more than one (an older one
// is under way while the newest waits). The only code that gives a node a job, or takes it away.

import type { Undo } from '../../content/spool/undo.ts'
import type { Job } from '../../content/commit/job.ts'
import type { Intention } from '../../content/intention.ts'
import type { SpoolFile } from '../../content/spool/spool-file.ts'
import type { Node } from '../tree/node.ts'

export interface HandedIn {
  readonly content: SpoolFile | undefined
  /** Of the node's own content, as it was handed in; undefined where the change carries an older one. */
  readonly epoch: number | undefined
}

export class Owners {
  readonly #follow: (undo: Undo) => void
  /** By intention id. */
  readonly #nodes = new Map<number, Node>()
  readonly #ids = new Map<Node, Set<number>>()

  /** `follow` takes what undoes a change, should the journal's transaction fail. */
  constructor(follow: (undo: Undo) => void) {
    this.#follow = follow
  }

  of({ id }: Intention): Node | undefined {
    return this.#nodes.get(id)
  }

  /** The node's newest change is this job; undefined where nothing is left to do. */
  handIn(node: Node, job: Job | undefined, { content, epoch }: HandedIn): void {
    this.#follow(node)
    node.unsent.handedIn(job, content, epoch)
    if (epoch !== undefined) node.local.handedIn()
    if (job !== undefined) this.#set(job.intention.id, node)
  }

  /** A job of an earlier run. */
  restore(node: Node, job: Job): void {
    this.handIn(node, job, { content: node.content, epoch: node.content?.epoch })
    if (job.intention.keepSource === true && node.content === undefined) node.unsent.copies()
  }

  /** The node's change was taken back. */
  withdraw(node: Node): void {
    this.#follow(node)
    if (node.job !== undefined) this.#set(node.job.intention.id, undefined)
    node.unsent.withdrawn()
  }

  /** The intention goes on as another; undefined where it is over. Answers whose it was. */
  goesOnAs(intention: Intention, successor: Job | undefined): Node | undefined {
    const node = this.of(intention)
    this.#set(intention.id, undefined)
    if (node === undefined) return undefined
    this.#follow(node)
    if (successor !== undefined) this.#set(successor.intention.id, node)
    if (node.job?.intention.id === intention.id) node.unsent.goesOnAs(successor)
    return node
  }

  /** The service has the node's newest change where it shows: what becomes of older ones tells nothing of it any more. */
  settled(node: Node): void {
    for (const id of this.#ids.get(node) ?? []) this.#set(id, undefined)
  }

  /** Changes that the one has on its way are the other's. */
  handOver(from: Node, to: Node): void {
    for (const id of this.#ids.get(from) ?? []) this.#put(id, to)
    from.unsent.goesOnAs(undefined)
  }

  #set(id: number, node: Node | undefined): void {
    const before = this.#nodes.get(id)
    this.#put(id, node)
    this.#follow(() => this.#put(id, before))
  }

  #put(id: number, node: Node | undefined): void {
    const before = this.#nodes.get(id)
    const others = before === undefined ? undefined : this.#ids.get(before)
    others?.delete(id)
    if (before !== undefined && others?.size === 0) this.#ids.delete(before)
    if (node === undefined) {
      this.#nodes.delete(id)
      return
    }
    this.#nodes.set(id, node)
    const ids = this.#ids.get(node)
    if (ids === undefined) this.#ids.set(node, new Set([id]))
    else ids.add(id)
  }
}
