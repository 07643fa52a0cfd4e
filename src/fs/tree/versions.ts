// Which version of the service each document shows, and where the service has it: nobody else makes `node.stored` another
// version, or puts it elsewhere. Knows who shows the version at a path without being there: before that version is
// destroyed, they take its bytes.

import type { Undo } from '../../content/spool/undo.ts'
import type { RemoteFile } from '../../api/types.ts'
import type { Node } from './node.ts'

export class Versions {
  readonly #applyAttributes: (node: Node) => void
  readonly #follow: (undo: Undo) => void
  readonly #elsewhere = new Map<string, Set<Node>>()

  /**
   * `applyAttributes` puts on a node what was set here for the version it shows; `follow` takes what undoes a change, should the
   * journal's transaction fail.
   */
  constructor(applyAttributes: (node: Node) => void, follow: (undo: Undo) => void) {
    this.#applyAttributes = applyAttributes
    this.#follow = follow
  }

  /** The document is this version, with what was set here for it. */
  show(node: Node, record: RemoteFile, askedAt: number): void {
    this.store(node, record, askedAt)
    this.#applyAttributes(node)
  }

  /** The service has this version of the document: its content and its times are what they were. */
  store(node: Node, record: RemoteFile, askedAt: number): void {
    this.#leave(node)
    node.stored.replace(record, askedAt, undefined)
    node.unsent.mayReplace(node.stored.fingerprint)
  }

  /** The document is a version that the service has at this path, which need not be its own. */
  showAt(node: Node, path: string, record: RemoteFile, askedAt: number): void {
    this.#leave(node)
    node.stored.replace(record, askedAt, undefined)
    if (path !== node.path) this.refer(node, path)
  }

  /** Where the service has it is another path than the node's from now on. */
  refer(node: Node, path: string): void {
    this.#leave(node)
    if (node.stored.record === undefined) return
    node.stored.moveTo(path)
    this.#add(node, path)
    this.#follow(() => this.#remove(node, path))
  }

  /** The service has it at the node's own path, if anywhere. */
  atOwnPath(node: Node): void {
    this.#leave(node)
    node.stored.moveTo(undefined)
  }

  /** The node is where the service has it, again. */
  backAtOwnPath(node: Node): void {
    this.atOwnPath(node)
    node.unsent.mayReplace(node.stored.fingerprint)
  }

  /** The document itself was asked, since its listing does not tell all. True where it is another version than was shown. */
  complete(node: Node, record: RemoteFile, askedAt: number): boolean {
    const { stored } = node
    const before = stored.fingerprint
    if (before === undefined) return false
    const { elsewhere } = stored
    stored.renew(record, askedAt)
    const isAnother = stored.fingerprint !== before
    if (isAnother) {
      stored.replace(record, askedAt, elsewhere)
      if (elsewhere === undefined) node.unsent.mayReplace(stored.fingerprint)
      this.#applyAttributes(node)
    }
    stored.noteLookup(askedAt)
    return isAnother
  }

  /** Its content is here, and no longer in the service. */
  forget(node: Node): void {
    this.#leave(node)
    node.stored.forget()
  }

  /** Another client took it from where it was: who has it open may still have its bytes. */
  vanished(node: Node): void {
    const { storedPath } = node
    this.#leave(node)
    node.stored.moveTo(storedPath)
  }

  /** The node was dropped: no call finds it any more. */
  dropped(node: Node): void {
    this.#leave(node)
  }

  /** Nodes that show the version at this path, and are elsewhere themselves. */
  shownElsewhere(path: string): Node[] {
    return [...(this.#elsewhere.get(path) ?? [])].filter((node) => node.storedPath === path)
  }

  /** The node is about to show something else. */
  #leave(node: Node): void {
    const { elsewhere } = node.stored
    this.#follow(node)
    if (elsewhere === undefined || this.#elsewhere.get(elsewhere)?.has(node) !== true) return
    this.#remove(node, elsewhere)
    this.#follow(() => this.#add(node, elsewhere))
  }

  #add(node: Node, path: string): void {
    const nodes = this.#elsewhere.get(path)
    if (nodes === undefined) this.#elsewhere.set(path, new Set([node]))
    else nodes.add(node)
  }

  #remove(node: Node, path: string): void {
    const nodes = this.#elsewhere.get(path)
    nodes?.delete(node)
    if (nodes?.size === 0) this.#elsewhere.delete(path)
  }
}
