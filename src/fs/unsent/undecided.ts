// Files whose names tell no type, while they are on this machine only. Content is judged early, so that a program
// hears at once of what is no document: by its first 64 KiB at the next write, and whole when it is closed.

import { headBytes } from '../../api/mimetype-of-content.ts'
import { mimetypeOfName } from '../../api/mimetype-of.ts'
import type { SpoolFile } from '../../content/spool/spool-file.ts'
import { nameOf } from '../../path.ts'
import type { RefusedNames } from '../attention/refused-names.ts'
import type { TypePolicy } from '../tree/names.ts'
import type { Listing } from '../tree/listings.ts'
import { pathIn, type Node } from '../tree/node.ts'
import { isOwnName, namedAfter } from '../tree/scratch.ts'
import { isInTrash } from '../tree/trash.ts'
import type { Tree } from '../tree/tree.ts'

export interface UndecidedOptions {
  readonly tree: Tree
  readonly types: TypePolicy
  readonly refusedNames: RefusedNames
}

export class Undecided {
  readonly #options: UndecidedOptions
  /** Contents whose beginning may be a document's. */
  readonly #mayBe = new WeakSet<SpoolFile>()

  constructor(options: UndecidedOptions) {
    this.#options = options
  }

  /** Before a write. Rejects with EOPNOTSUPP where no document begins so; undefined where there is nothing to be judged. */
  writes(node: Node): Promise<void> | undefined {
    const { content } = node
    if (!node.isLocalOnly || content === undefined) return undefined
    if (content.size < headBytes || this.#mayBe.has(content)) return undefined
    return this.#checkBeginning(node, content)
  }

  /** At a close. Throws EOPNOTSUPP where what was written is no document of a stored type. */
  async closes(node: Node): Promise<void> {
    const { content, parent } = node
    if (!node.isLocalOnly || content === undefined || node.local.isMadeTemporary) return
    if (parent !== undefined) await this.checkAs(node, parent, node.name)
  }

  /** Throws EOPNOTSUPP where a file that is here only is no document of a stored type, and has, or gets, a name that tells none. */
  async checkAs(node: Node, folder: Node, name: string): Promise<void> {
    const { content } = node
    if (content === undefined || this.#isExempt(folder, name)) return
    await this.checkContent(pathIn(folder, name), content)
  }

  /** Throws EOPNOTSUPP for content that is no document of a stored type at this path. */
  async checkContent(path: string, content: SpoolFile): Promise<void> {
    const { types, refusedNames } = this.#options
    await refusedNames.checked(path, () => types.mimetypeOf(nameOf(path), content))
  }

  /** True where fsync(2) makes it a document: nothing says that it is the beginning of another. */
  isDecidedBySync({ name, parent, local }: Node): boolean {
    if (parent === undefined || local.isMadeTemporary || this.#isExempt(parent, name)) return false
    return namedAfter(name, (other) => mimetypeOfName(other) !== undefined) === undefined
  }

  async #checkBeginning(node: Node, content: SpoolFile): Promise<void> {
    const { types, refusedNames } = this.#options
    const { name, parent } = node
    const isExempt = parent === undefined || node.local.isMadeTemporary || this.#isExempt(parent, name)
    if (!isExempt) {
      const beginning = await content.read(0, headBytes)
      await refusedNames.checked(node.path, () => types.checkBeginning(name, beginning))
    }
    this.#mayBe.add(content)
  }

  /** No document ever, one by its name, or on its way to become the one beside it that it is named after. */
  #isExempt(folder: Node, name: string): boolean {
    if (isInTrash(folder.path) || isOwnName(name) || mimetypeOfName(name) !== undefined) return true
    const { tree } = this.#options
    const listing = tree.listings.known(folder)
    return listing === undefined || namedAfter(name, documentsIn(tree, folder, listing)) !== undefined
  }
}

/** Tells whether a document of a name is in a folder: no file that is on this machine only, and no folder. */
export function documentsIn(tree: Tree, folder: Node, listing: Listing): (name: string) => boolean {
  return (name) => {
    const other = tree.child(folder, name, listing)
    return other !== undefined && other.folder === undefined && !other.isLocalOnly
  }
}
