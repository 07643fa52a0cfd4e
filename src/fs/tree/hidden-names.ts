// Names that were hidden in folders that are gone from their places, or that nobody looked at for a while: a folder that is made or
// found there may be listed as the one before it was. Kept until one cache lifetime after the folder went, and after the service agreed.

import type { Undo } from '../../content/spool/undo.ts'
import { folderOf, isAtOrUnder, nameOf } from '../../path.ts'
import { pathIn, type Node } from './node.ts'
import type { Tombstone } from './parts/folder.ts'
import { putName } from './put-name.ts'

/** About 200 bytes each. */
const mostNames = 50_000

export interface HiddenNamesOptions {
  readonly ttlMs: number
  readonly now: () => number
  /** Takes what undoes a change, should the journal's transaction under way fail. */
  follow(undo: Undo): void
  /** Something passes through this path on its way to elsewhere, or is still to be taken away from there. */
  isToBeEmptied(path: string): boolean
  /** True where the service still has a former folder at this path or above, which is to be removed. */
  isOfFormerFolder(path: string): boolean
}

interface Hidden {
  readonly names: Map<string, Tombstone>
  readonly leftAt: number
}

export class HiddenNames {
  readonly #options: HiddenNamesOptions
  /** By path; those that left longest ago come first. */
  readonly #folders = new Map<string, Hidden>()
  #count = 0

  constructor(options: HiddenNamesOptions) {
    this.#options = options
  }

  /** The folder is about to leave its place. */
  left({ path, folder }: Node): void {
    this.#forgetOld()
    if (folder === undefined || folder.tombstones.size === 0) return
    this.#set(path, { names: new Map(folder.tombstones), leftAt: this.#options.now() })
  }

  /** Its node is dropped, and it is where it was: no change that could be undone. */
  dropped(node: Node): void {
    this.#forgetOld()
    if (node.folder === undefined || node.isUnlinked) return
    const names = new Map([...node.folder.tombstones].filter(([, tombstone]) => !this.#isOver(tombstone)))
    if (names.size > 0) this.#put(node.path, { names, leftAt: this.#options.now() })
  }

  /** The service agreed that nothing is at a path whose folder has no node now. */
  settle(path: string): void {
    const names = this.#folders.get(folderOf(path))?.names
    const name = nameOf(path)
    const tombstone = names?.get(name)
    if (names === undefined || tombstone === undefined || tombstone.settledAt !== undefined) return
    this.#options.follow(putName(names, name, this.#settled(tombstone)))
  }

  /** The folder at this path is gone from the service, with all that is below. */
  settleFolder(path: string): void {
    for (const [folder, { names }] of this.#folders) {
      if (!isAtOrUnder(folder, path)) continue
      for (const name of names.keys())
        if (!this.#options.isToBeEmptied(`${folder}/${name}`)) this.settle(`${folder}/${name}`)
    }
  }

  /** A folder has this place now: what was hidden here is hidden in it. */
  takeOver(node: Node): void {
    const { folder } = node
    if (folder === undefined || this.#folders.size === 0) return
    const { path } = node
    const hidden = this.#folders.get(path)
    if (hidden === undefined) return
    this.#set(path, undefined)
    for (const [name, tombstone] of hidden.names) {
      // A name that came along with the folder is there again.
      if (folder.children.has(name) || this.#isOver(tombstone)) continue
      // When it was agreed to, or given up, nobody said.
      const isAgreed = tombstone.settledAt === undefined && !this.#isToGo(pathIn(node, name))
      this.#options.follow(folder.hide(name, isAgreed ? this.#settled(tombstone) : tombstone))
    }
  }

  #settled(tombstone: Tombstone): Tombstone {
    const settledAt = this.#options.now()
    return { ...tombstone, settledAt, until: settledAt + this.#options.ttlMs }
  }

  #isOver({ until }: Tombstone): boolean {
    return until !== undefined && until < this.#options.now()
  }

  #forgetOld(): void {
    for (const [path, hidden] of this.#folders) {
      if (this.#count <= mostNames && this.#isStillToHide(path, hidden)) return
      this.#put(path, undefined)
    }
  }

  #isStillToHide(path: string, { names, leftAt }: Hidden): boolean {
    if (leftAt + this.#options.ttlMs >= this.#options.now()) return true
    for (const [name, { settledAt }] of names)
      if (settledAt === undefined && this.#isToGo(`${path}/${name}`)) return true
    return false
  }

  /** By itself, or with its folder. */
  #isToGo(path: string): boolean {
    return this.#options.isToBeEmptied(path) || this.#options.isOfFormerFolder(path)
  }

  #set(path: string, hidden: Hidden | undefined): void {
    const before = this.#folders.get(path)
    this.#put(path, hidden)
    this.#options.follow(() => this.#put(path, before))
  }

  #put(path: string, hidden: Hidden | undefined): void {
    this.#count -= this.#folders.get(path)?.names.size ?? 0
    this.#folders.delete(path)
    if (hidden === undefined) return
    this.#folders.set(path, hidden)
    this.#count += hidden.names.size
  }
}
