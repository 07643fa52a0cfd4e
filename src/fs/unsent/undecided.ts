// Local-only files whose names tell no type. Their content is checked early, so that a program gets the error at once if it is
// no document: the first 64 KiB at the next write, and all of it at the close.

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
  /** Contents whose beginning has passed the check. */
  readonly #passed = new WeakSet<SpoolFile>()

  constructor(options: UndecidedOptions) {
    this.#options = options
  }

  /** Checks a write. Rejects with EOPNOTSUPP if no document begins like the content; undefined if there is nothing to check. */
  writes(node: Node): Promise<void> | undefined {
    const { content } = node
    if (!node.isLocalOnly || content === undefined) return undefined
    if (content.size < headBytes || this.#passed.has(content)) return undefined
    return this.#checkBeginning(node, content)
  }

  /** Checks the content at a close. Throws EOPNOTSUPP if it is no document of a stored type. */
  async closes(node: Node): Promise<void> {
    const { content, parent } = node
    if (!node.isLocalOnly || content === undefined || node.local.isMadeTemporary) return
    if (parent !== undefined) await this.checkAs(node, parent, node.name)
  }

  /** Throws EOPNOTSUPP for a file whose content is no document of a stored type, if this name tells no type. */
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

  /** True if fsync(2) makes the file a document: its name does not say that it is to become another one. */
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
    this.#passed.add(content)
  }

  /** True for a name that is never a document's, that tells its type, or that is formed from the document's beside it. */
  #isExempt(folder: Node, name: string): boolean {
    if (isInTrash(folder.path) || isOwnName(name) || mimetypeOfName(name) !== undefined) return true
    const { tree } = this.#options
    const listing = tree.listings.known(folder)
    return listing === undefined || namedAfter(name, documentsIn(tree, folder, listing)) !== undefined
  }
}

/** Returns a function that tells if a folder has a document of a name. Local-only files and folders do not count. */
export function documentsIn(tree: Tree, folder: Node, listing: Listing): (name: string) => boolean {
  return (name) => {
    const other = tree.child(folder, name, listing)
    return other !== undefined && other.folder === undefined && !other.isLocalOnly
  }
}
