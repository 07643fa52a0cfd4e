// The version that each document shows, and the path where the service has it: only this class changes them in `node.stored`.
// It knows which nodes show the version at a path without being there: before that version is destroyed, they take its bytes.

import { UndoableMap } from '../../content/spool/undo.ts'
import type { RemoteFile } from '../../api/types.ts'
import type { Node } from './node.ts'

export class Versions {
  readonly #applyAttributes: (node: Node) => void
  /** Nodes that show a version of another path, by that path. */
  readonly #elsewhere = new UndoableMap<string, ReadonlySet<Node>>()

  /** `applyAttributes` gives a node the modes and times that were set here for the version it shows. */
  constructor(applyAttributes: (node: Node) => void) {
    this.#applyAttributes = applyAttributes
  }

  /** Makes the document show this version, with the modes and times that were set here for it. */
  show(node: Node, record: RemoteFile, askedAt: number): void {
    this.store(node, record, askedAt)
    this.#applyAttributes(node)
  }

  /** Notes that the service has stored the document as this version: its content and its times stay as they are. */
  store(node: Node, record: RemoteFile, askedAt: number): void {
    this.#leave(node)
    node.stored.replace(record, askedAt, undefined)
    node.unsent.mayReplace(node.stored.fingerprint)
  }

  /**
   * Makes the document show a version that the service has at this path, which need not be its own: modes and times stay. So does
   * the version that the next save may replace, which is one at the document's own path.
   */
  showAt(node: Node, path: string, record: RemoteFile, askedAt: number): void {
    this.#leave(node)
    node.stored.replace(record, askedAt, undefined)
    if (path !== node.path) this.refer(node, path)
  }

  /** Notes that the service has the shown version at this path, whatever path the node has or gets (`f` → `g`: at `f`). */
  refer(node: Node, path: string): void {
    this.#leave(node)
    if (node.stored.record === undefined) return
    node.stored.moveTo(path)
    this.#elsewhere.set(path, new Set(this.#elsewhere.get(path)).add(node))
  }

  /** Notes that the service has the shown version at the node's own path, if anywhere. */
  atOwnPath(node: Node): void {
    this.#leave(node)
    node.stored.moveTo(undefined)
  }

  /** Notes that the node is back where the service has it (`f` → `g` → `f`): the next save may replace the version there. */
  backAtOwnPath(node: Node): void {
    this.atOwnPath(node)
    node.unsent.mayReplace(node.stored.fingerprint)
  }

  /**
   * Notes the record of a document that was looked up, since its listing does not tell all. Returns true if it is another
   * version than the one shown.
   */
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

  /** Notes that the content is on this machine, and no longer in the service. */
  forget(node: Node): void {
    this.#leave(node)
    node.stored.forget()
  }

  /** Notes that another client removed the document: handles on it may still read bytes that are cached for its former path. */
  vanished(node: Node): void {
    const { storedPath } = node
    this.#leave(node)
    node.stored.moveTo(storedPath)
  }

  /** The node was dropped: no call finds it any more. */
  dropped(node: Node): void {
    this.#leave(node)
  }

  /** Returns the nodes that show the version at this path, and have another path themselves. */
  shownElsewhere(path: string): Node[] {
    return [...(this.#elsewhere.get(path) ?? [])].filter((node) => node.storedPath === path)
  }

  /** Called before each change: removes the node from `#elsewhere`. */
  #leave(node: Node): void {
    const { elsewhere } = node.stored
    if (elsewhere === undefined || this.#elsewhere.get(elsewhere)?.has(node) !== true) return
    const others = new Set(this.#elsewhere.get(elsewhere))
    others.delete(node)
    if (others.size === 0) this.#elsewhere.delete(elsewhere)
    else this.#elsewhere.set(elsewhere, others)
  }
}
