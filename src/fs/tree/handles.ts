// Open files and folders by `fh`: one handle is one open(). Content and its dirty state belong to the node, never to the
// handle.

import { ErrnoError } from '../../errno-error.ts'
import type { Version } from '../../content/fingerprint.ts'
import type { Reading } from '../../content/read/reader.ts'
import { HandleNumbers } from './handle-numbers.ts'
import type { Node } from './node.ts'
import type { OpenFlags } from '../operations.ts'

export class FileHandle {
  readonly node: Node
  readonly flags: OpenFlags
  /** Reads the version that the node showed when this handle first read it. */
  reading: Reading | undefined
  /** The reading whose version is noted as known to the program (`tree.seen`): further reads of it need no note. */
  known: Reading | undefined
  #version: Version | undefined
  #contentGeneration: number
  #isUsed = false
  #hasPages: boolean

  /** `hasPages`: the door has cached pages of the content, which the program reads without a call to us. */
  constructor(node: Node, flags: OpenFlags, hasPages = false) {
    this.node = node
    this.flags = flags
    this.#contentGeneration = node.door.contentGeneration
    this.#hasPages = hasPages && flags.read
  }

  /** Notes that the program has read or written some of the content. */
  used(): void {
    this.#isUsed = true
  }

  /** Notes that the program starts with the content as it is now: it knows none of an earlier one. */
  renew(): void {
    this.#contentGeneration = this.node.door.contentGeneration
    this.#hasPages = false
  }

  /** The content generation that the program knows. */
  get contentGeneration(): number {
    return this.#contentGeneration
  }

  /** Throws ESTALE if the program knows a version that another client has replaced: the two must not be mixed. */
  checkCurrent(purpose: 'read' | 'write'): void {
    const { node } = this
    if (this.#contentGeneration === node.door.contentGeneration) return
    // The door has dropped its pages: a read fetches the new content.
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

  /** Lets the next read open the version that our own commit made of the same content. */
  rebind(): void {
    this.reading?.close()
    this.reading = undefined
    this.known = undefined
    this.#version = undefined
  }

  /**
   * True while the handle reads the version that its node shows, at the path where the service has it: versions at two paths
   * may have the same size and time.
   */
  get isCurrent(): boolean {
    const { version } = this.node
    return this.#version?.path === version?.path && this.#version?.fingerprint === version?.fingerprint
  }
}

export class FolderHandle {
  readonly node: Node
  /** Length of the folder's order when reading began: names that come later are not listed. */
  end: number | undefined
  /** Numbers of the nodes listed so far: those not in use are dropped when the reading goes on or ends. */
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

  /** Returns all file handles of a node. */
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
