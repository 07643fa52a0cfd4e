// The last changes to the namespace, so that a listing can be answered as it was a moment ago. Memory only, bounded: what
// is older than it reaches back to looks as it does now.

import type { NodeRow } from '../store/database.ts'
import type { ChildRow } from '../store/nodes.ts'

interface Change {
  readonly at: number
  readonly kind: 'created' | 'removed'
  readonly node: NodeRow
}

const maxChanges = 20_000

export class NodeHistory {
  #changes: Change[] = []

  noteCreated(nodes: readonly NodeRow[], at: number): void {
    this.#note('created', nodes, at)
  }

  noteRemoved(nodes: readonly NodeRow[], at: number): void {
    this.#note('removed', nodes, at)
  }

  /** The node that was at a path then, given the one that is there `now`. */
  nodeAt(projectId: string, path: string, now: NodeRow | undefined, at: number): NodeRow | undefined {
    let node = now
    for (const change of this.#since(at)) {
      if (change.node.path !== path || change.node.project_id !== projectId) continue
      node = change.kind === 'removed' ? change.node : undefined
    }
    return node
  }

  /** A folder's children then, given its children `now`; by name. */
  childrenAt(folderId: string, now: readonly ChildRow[], at: number): ChildRow[] {
    const children = new Map(now.map((node) => [node.name, node]))
    for (const change of this.#since(at)) {
      if (change.node.parent_id !== folderId) continue
      if (change.kind === 'removed') children.set(change.node.name, change.node)
      else children.delete(change.node.name)
    }
    return [...children.values()].sort((a, b) => (a.name < b.name ? -1 : 1))
  }

  /** Changes after a time, the latest first: undone in this order they lead back to it. */
  *#since(at: number): Generator<Change> {
    for (let index = this.#changes.length - 1; index >= 0; index--) {
      const change = this.#changes[index]!
      if (change.at <= at) return
      yield change
    }
  }

  #note(kind: Change['kind'], nodes: readonly NodeRow[], at: number): void {
    for (const node of nodes.slice(-maxChanges)) this.#changes.push({ at, kind, node })
    if (this.#changes.length > 2 * maxChanges) this.#changes = this.#changes.slice(-maxChanges)
  }
}
