// Access of one request to the drive's nodes, by names. All references of lookups are given back when the request ends.

import { rootIno, type Attributes, type Caller, type Operations } from '../fs/operations.ts'
import { spellingsOf } from './names.ts'
import { Refused } from './refused.ts'

/** A node, with its names from the root as they are on the drive. */
export interface Resource {
  readonly names: readonly string[]
  readonly attributes: Attributes
}

/** A parent folder, and a name in it, which may be free. */
export interface Place {
  readonly parent: Resource
  readonly name: string
}

/** An open document. */
export interface Opened {
  readonly ino: number
  readonly fh: number
}

/** Name prefix of a document that will replace another when complete; the drive treats it as a program's temporary file. */
const unfinishedPrefix = '.goutputstream-dav'

const never = new AbortController().signal

export class PathWalk {
  readonly operations: Operations
  readonly caller: Caller
  /** Caller of changes, which are completed even if the client disconnects. */
  readonly changeCaller: Caller
  readonly #held: number[] = []

  constructor(operations: Operations, signal: AbortSignal) {
    this.operations = operations
    this.changeCaller = {
      uid: process.getuid?.() ?? 0,
      gid: process.getgid?.() ?? 0,
      pid: process.pid,
      signal: never,
    }
    this.caller = { ...this.changeCaller, signal }
  }

  /** Resolves with the resource of these names, in any Unicode normal form; undefined if there is none. */
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

  /** As `find`. Throws Refused (404) if there is none. */
  async get(names: readonly string[]): Promise<Resource> {
    const found = await this.find(names)
    if (found === undefined) throw new Refused(404, 'nothing is here')
    return found
  }

  /** Throws Refused: 403 for the root, 409 if the parent folder does not exist. */
  async placeOf(names: readonly string[]): Promise<Place> {
    const name = names.at(-1)
    if (name === undefined) throw new Refused(403, 'the root of the drive stays as it is')
    const parent = await this.find(names.slice(0, -1))
    if (parent?.attributes.kind !== 'folder') throw new Refused(409, 'the folder above does not exist')
    return { parent, name }
  }

  /** Creates and opens a document. Throws EEXIST if the name exists. */
  async create({ parent, name }: Place, mode: number): Promise<Opened> {
    const { operations, changeCaller } = this
    const flags = { read: true, write: true, truncate: false }
    const options = { mode, flags, exclusive: true }
    const { entry, opened } = await operations.create(parent.attributes.ino, name, options, changeCaller)
    this.holdNode(entry.attributes.ino)
    return { ino: entry.attributes.ino, fh: opened.fh }
  }

  /** Closes a created document, and removes it unless another one has its name by now. */
  async undoCreate(place: Place, { ino, fh }: Opened): Promise<void> {
    const { operations, changeCaller } = this
    try {
      if (await this.isAt(place, ino))
        await operations.unlink(place.parent.attributes.ino, place.name, changeCaller)
    } finally {
      await operations.release(fh)
    }
  }

  /** True if the name still belongs to this node. */
  async isAt({ parent, name }: Place, ino: number): Promise<boolean> {
    const { attributes } = await this.operations.lookup(parent.attributes.ino, name, this.changeCaller)
    if (attributes !== undefined) this.holdNode(attributes.ino)
    return attributes?.ino === ino
  }

  /** Resolves with a folder's children. `withUnfinished`: also temporary documents, which are hidden from clients. */
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
            // Undefined if the service has to be asked: `#lookup` does that below, after the listing.
            const entry = child.entry()
            if (entry !== undefined) {
              operations.remember(child.ino)
              this.holdNode(child.ino)
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

  /** Takes over one reference, given back by `releaseNodes`. */
  holdNode(ino: number): void {
    this.#held.push(ino)
  }

  /** Gives back all references; call it when the request ends. */
  releaseNodes(): void {
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
    if (attributes !== undefined) this.holdNode(attributes.ino)
    return attributes
  }
}

/** Returns a unique temporary name, which clients do not see. */
export function unfinishedName(extension = ''): string {
  return `${unfinishedPrefix}${crypto.randomUUID().replaceAll('-', '')}${extension}`
}
