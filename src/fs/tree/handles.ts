// Open files and folders by `fh`: one handle is one open(). Content and dirt belong to the node, never to the handle.

import { ErrnoError } from '../../errno-error.ts'
import type { Version } from '../../content/fingerprint.ts'
import type { Reading } from '../../content/read/reader.ts'
import { HandleNumbers } from './handle-numbers.ts'
import type { Node } from './node.ts'
import type { OpenFlags } from '../operations.ts'

export class FileHandle {
  readonly node: Node
  readonly flags: OpenFlags
  /** Reads the version the node showed when this handle first read it. */
  reading: Reading | undefined
  /** The version whose bytes its program was given: further reads of it tell nothing new. */
  known: Reading | undefined
  #version: Version | undefined
  #contentGeneration: number
  #isUsed = false
  #hasPages: boolean

  /** `hasPages` where the door has pages of the content, which its program reads without asking. */
  constructor(node: Node, flags: OpenFlags, hasPages = false) {
    this.node = node
    this.flags = flags
    this.#contentGeneration = node.door.contentGeneration
    this.#hasPages = hasPages && flags.read
  }

  /** Its program knows some of the content that is here, or wrote it. */
  used(): void {
    this.#isUsed = true
  }

  /** The content is from now: nothing of what its program knows is left in it. */
  renew(): void {
    this.#contentGeneration = this.node.door.contentGeneration
    this.#hasPages = false
  }

  /** Whose content its program knows. */
  get contentGeneration(): number {
    return this.#contentGeneration
  }

  /** Throws ESTALE where its program knows a version that another client replaced: nothing of that may be mixed with theirs. */
  checkCurrent(purpose: 'read' | 'write'): void {
    const { node } = this
    if (this.#contentGeneration === node.door.contentGeneration) return
    // The door let go of its pages: what is read now is read anew.
    if (this.#isUsed || (this.#hasPages && purpose === 'write'))
      throw new ErrnoError('ESTALE', `${node.path} is another client’s version now`)
    this.renew()
  }

  /** Remembers which version `reading` is of. */
  bind(reading: Reading): void {
    this.reading = reading
    this.#isUsed = true
    this.#version = this.node.version
  }

  /** Our own commit made another version of the same content: read that from now on. */
  rebind(): void {
    this.reading?.close()
    this.reading = undefined
    this.known = undefined
    this.#version = undefined
  }

  /**
   * True while the handle reads the version that its node shows, from where the service has it: two places may tell
   * the same size and time.
   */
  get isCurrent(): boolean {
    const { version } = this.node
    return this.#version?.path === version?.path && this.#version?.fingerprint === version?.fingerprint
  }
}

export class FolderHandle {
  readonly node: Node
  /** How far the folder's order went when reading began: what comes later is not told. */
  end: number | undefined
  /** Numbers of what was told of, looked at again when the reading goes on or ends. */
  touched: number[] = []

  constructor(node: Node) {
    this.node = node
  }
}

export class HandleTable {
  readonly #numbers = new HandleNumbers<FileHandle | FolderHandle>()

  get count(): number {
    return this.#numbers.count
  }

  addFile(handle: FileHandle): number {
    handle.node.door.opened(handle.flags.write)
    return this.#numbers.add(handle)
  }

  addFolder(handle: FolderHandle): number {
    handle.node.door.opened()
    return this.#numbers.add(handle)
  }

  find(fh: number): FileHandle | FolderHandle | undefined {
    return this.#numbers.find(fh)
  }

  /** Throws EBADF. */
  file(fh: number): FileHandle {
    return this.#numbers.get(fh, isFile)
  }

  /** Throws EBADF. */
  folder(fh: number): FolderHandle {
    return this.#numbers.get(fh, isFolder)
  }

  /** All handles of a node's content. */
  *of(node: Node): Iterable<FileHandle> {
    for (const handle of this.#numbers.values()) if (isFile(handle) && handle.node === node) yield handle
  }

  /** Documents that are open for writing. */
  *written(): Iterable<Node> {
    for (const { node } of this.#numbers.values()) if (node.door.writeHandles > 0) yield node
  }

  removeFile(fh: number): FileHandle | undefined {
    const handle = this.#numbers.take(fh, isFile)
    if (handle === undefined) return undefined
    handle.reading?.close()
    handle.node.door.closed(handle.flags.write)
    return handle
  }

  removeFolder(fh: number): FolderHandle | undefined {
    const handle = this.#numbers.take(fh, isFolder)
    handle?.node.door.closed()
    return handle
  }
}

function isFile(handle: FileHandle | FolderHandle): handle is FileHandle {
  return handle instanceof FileHandle
}

function isFolder(handle: FileHandle | FolderHandle): handle is FolderHandle {
  return handle instanceof FolderHandle
}
