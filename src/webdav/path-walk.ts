// One request's walk through the drive: from names to nodes, by the operation table. Every reference a lookup hands out is
// given back when the request ends.

import { rootIno, type Attributes, type Caller, type Operations } from '../fs/operations.ts'
import { spellingsOf } from './names.ts'
import { Refused } from './refused.ts'

/** A node, under the names it has on the drive. */
export interface Resource {
  readonly names: readonly string[]
  readonly attributes: Attributes
}

/** Where a name may be made or taken away. */
export interface Place {
  readonly parent: Resource
  readonly name: string
}

/** An open document. */
export interface Opened {
  readonly ino: number
  readonly fh: number
}

/** Name prefix of a PUT over a document until it is whole; to the drive it is the unfinished save of a program. */
const unfinishedPrefix = '.goutputstream-dav'

const never = new AbortController().signal

export class PathWalk {
  readonly operations: Operations
  readonly caller: Caller
  /** Caller of changes: each is done to its end, whether or not the client still listens. */
  readonly lasting: Caller
  readonly #held: number[] = []

  constructor(operations: Operations, signal: AbortSignal) {
    this.operations = operations
    this.lasting = {
      uid: process.getuid?.() ?? 0,
      gid: process.getgid?.() ?? 0,
      pid: process.pid,
      signal: never,
    }
    this.caller = { ...this.lasting, signal }
  }

  /** The resource of these names, in whatever normal form they are spelled; undefined where there is none. */
  async find(names: readonly string[]): Promise<Resource | undefined> {
    let { attributes } = await this.operations.getattr(rootIno, undefined, this.caller)
    const found: string[] = []
    for (const name of names) {
      if (attributes.kind !== 'folder') return undefined
      const child = await this.#child(attributes.ino, name)
      if (child === undefined) return undefined
      found.push(child.name)
      attributes = child.attributes
    }
    return { names: found, attributes }
  }

  /** Throws Refused (404). */
  async get(names: readonly string[]): Promise<Resource> {
    const found = await this.find(names)
    if (found === undefined) throw new Refused(404, 'nothing is here')
    return found
  }

  /** Throws Refused: 403 for the root, 409 where no folder is above. */
  async placeOf(names: readonly string[]): Promise<Place> {
    const name = names.at(-1)
    if (name === undefined) throw new Refused(403, 'the root of the drive stays as it is')
    const parent = await this.find(names.slice(0, -1))
    if (parent?.attributes.kind !== 'folder') throw new Refused(409, 'the folder above does not exist')
    return { parent, name }
  }

  /** A new document, open. Throws EEXIST where the name is taken. */
  async create({ parent, name }: Place, mode: number): Promise<Opened> {
    const { operations, lasting } = this
    const flags = { read: true, write: true, truncate: false }
    const how = { mode, flags, exclusive: true }
    const { entry, opened } = await operations.create(parent.attributes.ino, name, how, lasting)
    this.hold(entry.attributes.ino)
    return { ino: entry.attributes.ino, fh: opened.fh }
  }

  /** Takes back what was made: the document goes, but not what has its name by now. */
  async undo(place: Place, { ino, fh }: Opened): Promise<void> {
    const { operations, lasting } = this
    try {
      if (await this.isAt(place, ino))
        await operations.unlink(place.parent.attributes.ino, place.name, lasting)
    } finally {
      await operations.release(fh)
    }
  }

  /** True while the name leads to this node. */
  async isAt({ parent, name }: Place, ino: number): Promise<boolean> {
    const { attributes } = await this.operations.lookup(parent.attributes.ino, name, this.lasting)
    if (attributes !== undefined) this.hold(attributes.ino)
    return attributes?.ino === ino
  }

  /** Children of a folder, in its order; held, as those of `find` are. `withUnfinished`: also what no client is shown. */
  async children({ names, attributes }: Resource, withUnfinished = false): Promise<readonly Resource[]> {
    const { operations, caller } = this
    const { fh } = await operations.opendir(attributes.ino, caller)
    try {
      const listed: { name: string; attributes: Attributes | undefined }[] = []
      let cookie = 0
      let before: number
      do {
        before = cookie
        await operations.readdir(
          fh,
          cookie,
          (child, next) => {
            const entry = child.entry()
            if (entry !== undefined) {
              operations.remember(child.ino)
              this.hold(child.ino)
            }
            listed.push({ name: child.name, attributes: entry?.attributes })
            cookie = next
            return true
          },
          caller,
        )
      } while (cookie !== before)
      const children: Resource[] = []
      for (const { name, attributes: known } of listed) {
        if (!withUnfinished && name.startsWith(unfinishedPrefix)) continue
        const found = known ?? (await this.#lookup(attributes.ino, name))
        if (found !== undefined) children.push({ names: [...names, name], attributes: found })
      }
      return children
    } finally {
      operations.releasedir(fh)
    }
  }

  /** Takes over one reference, until the request ends. */
  hold(ino: number): void {
    this.#held.push(ino)
  }

  /** Gives back every reference. */
  end(): void {
    for (const ino of this.#held.splice(0)) this.operations.forget(ino, 1)
  }

  async #child(parent: number, name: string): Promise<{ name: string; attributes: Attributes } | undefined> {
    for (const spelling of spellingsOf(name)) {
      const attributes = await this.#lookup(parent, spelling)
      if (attributes !== undefined) return { name: spelling, attributes }
    }
    return undefined
  }

  async #lookup(parent: number, name: string): Promise<Attributes | undefined> {
    const { attributes } = await this.operations.lookup(parent, name, this.caller)
    if (attributes !== undefined) this.hold(attributes.ino)
    return attributes
  }
}

/** A name that nobody else has and no other client is shown; with an `extension` it is a document's. */
export function unfinishedName(extension = ''): string {
  return `${unfinishedPrefix}${crypto.randomUUID().replaceAll('-', '')}${extension}`
}
