// A filesystem in memory: the smallest complete, POSIX-like implementation of `Operations`, to test and measure drivers without
// a service. The kernel checks permissions (`default_permissions`).

import { ErrnoError } from '../../src/errno-error.ts'
import {
  rootIno,
  type AttributeChange,
  type Caller,
  type CreateOptions,
  type Entry,
  type Filler,
  type FilesystemStatistics,
  type NegativeEntry,
  type OpenFlags,
  type Opened,
  type OpenedFolder,
  type Operations,
  type RenameFlags,
} from '../../src/fs/operations.ts'
import { MemoryNode, now } from './memory-node.ts'

export interface MemoryFileSystemOptions {
  /** How long the kernel may cache names. Default 60,000. */
  readonly entryTtlMs?: number
  /** How long the kernel may cache attributes. Default 60,000. */
  readonly attributeTtlMs?: number
  /** How long the kernel may cache that a name does not exist. Default 0: not at all. */
  readonly negativeTtlMs?: number
  /** Value of `opened.keepCache`. Default false. */
  readonly keepCache?: boolean
  /** Value of `opened.keepListing`: always, never (default), or once the folder was listed, as docmount does. */
  readonly keepListing?: boolean | 'once-listed'
}

interface FileHandle {
  readonly node: MemoryNode
  readonly flags: OpenFlags
}

interface FolderHandle {
  readonly node: MemoryNode
  snapshot: readonly (readonly [string, MemoryNode])[]
}

const maximumSizeBytes = 2 ** 50

export class MemoryFileSystem implements Operations {
  readonly #options: Required<MemoryFileSystemOptions>
  readonly #nodes = new Map<number, MemoryNode>()
  readonly #files = new Map<number, FileHandle>()
  readonly #folders = new Map<number, FolderHandle>()
  #lastIno = rootIno
  #lastFh = 0

  constructor(options: MemoryFileSystemOptions = {}) {
    this.#options = {
      entryTtlMs: 60_000,
      attributeTtlMs: 60_000,
      negativeTtlMs: 0,
      keepCache: false,
      keepListing: false,
      ...options,
    }
    const root = new MemoryNode(rootIno, 'folder', 0o755, process.getuid?.() ?? 0, process.getgid?.() ?? 0)
    root.nlink = 2
    this.#nodes.set(rootIno, root)
  }

  /** Number of nodes, without the root, on which a driver holds lookup references. */
  get rememberedNodes(): number {
    let count = 0
    for (const node of this.#nodes.values()) if (node.lookups > 0 && node.ino !== rootIno) count++
    return count
  }

  get openHandles(): number {
    return this.#files.size + this.#folders.size
  }

  /** Returns the node at an absolute path, without a lookup reference; undefined if there is none. */
  find(path: string): MemoryNode | undefined {
    let node: MemoryNode | undefined = this.#node(rootIno)
    for (const name of path.split('/')) if (name !== '') node = node?.children.get(name)
    return node
  }

  /** Writes a whole file, without the kernel's knowledge. */
  put(path: string, data: Uint8Array): MemoryNode {
    const slash = path.lastIndexOf('/')
    const parent = this.find(path.slice(0, slash)) ?? missing()
    const name = path.slice(slash + 1)
    const node = parent.children.get(name) ?? this.#add(parent, name, 'file', 0o644, parent)
    node.bytes.truncate(0)
    node.bytes.write(0, data)
    node.mtime = node.ctime = now()
    return node
  }

  lookup(parent: number, name: string): Entry | NegativeEntry {
    const folder = this.#node(parent)
    const node = folder.children.get(name)
    if (node === undefined) return { attributes: undefined, entryTtlMs: this.#options.negativeTtlMs }
    node.lookups++
    return this.#entry(node)
  }

  forget(ino: number, count: number): void {
    const node = this.#nodes.get(ino)
    if (node === undefined) return
    node.lookups = Math.max(0, node.lookups - count)
    this.#dropUnused(node)
  }

  remember(ino: number): void {
    this.#node(ino).lookups++
  }

  getattr(ino: number, fh: number | undefined): Entry {
    return this.#entry(this.#files.get(fh ?? 0)?.node ?? this.#node(ino))
  }

  setattr(ino: number, change: AttributeChange, fh: number | undefined): Entry {
    const node = this.#files.get(fh ?? 0)?.node ?? this.#node(ino)
    if (change.size !== undefined) {
      if (node.kind === 'folder') throw new ErrnoError('EISDIR', 'truncate')
      checkSize(change.size)
      node.bytes.truncate(change.size)
      node.mtime = now()
    }
    if (change.mode !== undefined) node.mode = change.mode
    if (change.uid !== undefined) node.uid = change.uid
    if (change.gid !== undefined) node.gid = change.gid
    if (change.atime !== undefined) node.atime = change.atime === 'now' ? now() : change.atime
    if (change.mtime !== undefined) node.mtime = change.mtime === 'now' ? now() : change.mtime
    node.ctime = now()
    return this.#entry(node)
  }

  opendir(ino: number): OpenedFolder {
    const node = this.#node(ino)
    const fh = ++this.#lastFh
    node.handles++
    this.#folders.set(fh, { node, snapshot: [] })
    const { keepListing } = this.#options
    return { fh, keepListing: keepListing === 'once-listed' ? node.isListed : keepListing }
  }

  readdir(fh: number, cookie: number, filler: Filler): void {
    const handle = this.#folders.get(fh) ?? badHandle()
    if (cookie === 0) {
      handle.snapshot = [...handle.node.children]
      handle.node.isListed = true
    }
    for (let index = cookie; index < handle.snapshot.length; index++) {
      const [name, node] = handle.snapshot[index] ?? missing()
      if (node.nlink === 0) continue
      const child = { name, ino: node.ino, kind: node.kind, entry: () => this.#entry(node) }
      if (!filler(child, index + 1)) return
    }
  }

  releasedir(fh: number): void {
    const handle = this.#folders.get(fh) ?? badHandle()
    this.#folders.delete(fh)
    handle.node.handles--
    this.#dropUnused(handle.node)
  }

  fsyncdir(ino: number): void {
    this.#node(ino)
  }

  open(ino: number, flags: OpenFlags): Opened {
    const node = this.#node(ino)
    if (flags.truncate) {
      node.bytes.truncate(0)
      node.mtime = node.ctime = now()
    }
    return this.#open(node, flags)
  }

  create(
    parent: number,
    name: string,
    options: CreateOptions,
    caller: Caller,
  ): { entry: Entry; opened: Opened } {
    const folder = this.#node(parent)
    const existing = folder.children.get(name)
    if (existing !== undefined && options.exclusive) throw new ErrnoError('EEXIST', name)
    if (existing?.kind === 'folder') throw new ErrnoError('EISDIR', name)
    if (existing !== undefined && options.flags.truncate) existing.bytes.truncate(0)
    const node = existing ?? this.#add(folder, name, 'file', options.mode, caller)
    node.lookups++
    return { entry: this.#entry(node), opened: this.#open(node, options.flags) }
  }

  read(fh: number, offset: number, length: number): readonly Uint8Array[] {
    return this.#file(fh).node.bytes.read(offset, length)
  }

  write(fh: number, offset: number | 'end', data: Uint8Array): number {
    const { node } = this.#file(fh)
    const at = offset === 'end' ? node.bytes.size : offset
    checkSize(at + data.length)
    node.bytes.write(at, data)
    node.mtime = node.ctime = now()
    return data.length
  }

  flush(fh: number): void {
    this.#file(fh)
  }

  fsync(fh: number): void {
    this.#file(fh)
  }

  release(fh: number): void {
    const { node } = this.#file(fh)
    this.#files.delete(fh)
    node.handles--
    this.#dropUnused(node)
  }

  fallocate(fh: number, offset: number, length: number, keepSize: boolean): void {
    const { node } = this.#file(fh)
    checkSize(offset + length)
    if (!keepSize && offset + length > node.bytes.size) node.bytes.truncate(offset + length)
  }

  /** Copies whole files only, as docmount does; EOPNOTSUPP for others, which the caller then copies itself. */
  copyFileRange(fhIn: number, offsetIn: number, fhOut: number, offsetOut: number, length: number): number {
    const source = this.#file(fhIn).node
    const target = this.#file(fhOut).node
    if (offsetIn !== 0 || offsetOut !== 0 || length < source.bytes.size || source === target) {
      throw new ErrnoError('EOPNOTSUPP', 'copyFileRange of a part')
    }
    const { size } = source.bytes
    for (let at = 0; at < size; at += 1 << 20) {
      let to = at
      for (const chunk of source.bytes.read(at, 1 << 20)) {
        target.bytes.write(to, chunk)
        to += chunk.length
      }
    }
    target.mtime = target.ctime = now()
    return size
  }

  mkdir(parent: number, name: string, mode: number, caller: Caller): Entry {
    const folder = this.#node(parent)
    if (folder.children.has(name)) throw new ErrnoError('EEXIST', name)
    const node = this.#add(folder, name, 'folder', mode, caller)
    node.lookups++
    return this.#entry(node)
  }

  unlink(parent: number, name: string): void {
    const folder = this.#node(parent)
    const node = folder.children.get(name) ?? missing()
    if (node.kind === 'folder') throw new ErrnoError('EISDIR', name)
    this.#remove(folder, name, node)
  }

  rmdir(parent: number, name: string): void {
    const folder = this.#node(parent)
    const node = folder.children.get(name) ?? missing()
    if (node.kind === 'file') throw new ErrnoError('ENOTDIR', name)
    if (node.children.size > 0) throw new ErrnoError('ENOTEMPTY', name)
    this.#remove(folder, name, node)
  }

  rename(parent: number, name: string, newParent: number, newName: string, flags: RenameFlags): void {
    const from = this.#node(parent)
    const to = this.#node(newParent)
    const node = from.children.get(name) ?? missing()
    const replaced = to.children.get(newName)
    if (node === replaced) return
    if (flags.exchange) {
      this.#detach(to, newName, replaced ?? missing())
      this.#detach(from, name, node)
      this.#attach(from, name, replaced ?? missing())
      this.#attach(to, newName, node)
      return
    }
    if (replaced !== undefined) {
      if (flags.noReplace) throw new ErrnoError('EEXIST', newName)
      if (node.kind === 'folder' && replaced.kind === 'file') throw new ErrnoError('ENOTDIR', newName)
      if (node.kind === 'file' && replaced.kind === 'folder') throw new ErrnoError('EISDIR', newName)
      if (replaced.children.size > 0) throw new ErrnoError('ENOTEMPTY', newName)
      this.#remove(to, newName, replaced)
    }
    this.#detach(from, name, node)
    this.#attach(to, newName, node)
  }

  statfs(): FilesystemStatistics {
    const blocks = 2 ** 28
    return {
      blockSizeBytes: 4096,
      blocks,
      blocksFree: blocks - 1,
      files: 1_000_000,
      filesFree: 1_000_000 - this.#nodes.size,
      nameMax: 255,
    }
  }

  #node(ino: number): MemoryNode {
    return this.#nodes.get(ino) ?? missing()
  }

  #file(fh: number): FileHandle {
    return this.#files.get(fh) ?? badHandle()
  }

  #entry(node: MemoryNode): Entry {
    const { entryTtlMs, attributeTtlMs } = this.#options
    return { attributes: node.attributes(), entryTtlMs, attributeTtlMs }
  }

  #open(node: MemoryNode, flags: OpenFlags): Opened {
    const fh = ++this.#lastFh
    node.handles++
    this.#files.set(fh, { node, flags })
    const { keepCache } = this.#options
    return { fh, keepCache, directIo: false, hasNothingToFlush: !flags.write }
  }

  #add(
    folder: MemoryNode,
    name: string,
    kind: 'file' | 'folder',
    mode: number,
    owner: { uid: number; gid: number },
  ): MemoryNode {
    // Children of a set-group-id folder get its group, and child folders its bit, too, as on Linux.
    const inherits = (folder.mode & 0o2000) !== 0
    const inherited = inherits && kind === 'folder' ? mode | 0o2000 : mode
    const node = new MemoryNode(
      ++this.#lastIno,
      kind,
      inherited,
      owner.uid,
      inherits ? folder.gid : owner.gid,
    )
    if (kind === 'folder') node.nlink = 1
    this.#nodes.set(node.ino, node)
    this.#attach(folder, name, node)
    return node
  }

  #attach(folder: MemoryNode, name: string, node: MemoryNode): void {
    folder.children.set(name, node)
    if (node.kind === 'folder') folder.nlink++
    node.nlink++
    node.ctime = folder.mtime = folder.ctime = now()
  }

  #detach(folder: MemoryNode, name: string, node: MemoryNode): void {
    folder.children.delete(name)
    if (node.kind === 'folder') folder.nlink--
    node.nlink--
    node.ctime = folder.mtime = folder.ctime = now()
  }

  #remove(folder: MemoryNode, name: string, node: MemoryNode): void {
    this.#detach(folder, name, node)
    // Its remaining link was its own `.`.
    if (node.kind === 'folder') node.nlink = 0
    this.#dropUnused(node)
  }

  #dropUnused(node: MemoryNode): void {
    if (node.nlink === 0 && node.lookups === 0 && node.handles === 0) this.#nodes.delete(node.ino)
  }
}

function checkSize(size: number): void {
  if (size > maximumSizeBytes) throw new ErrnoError('EFBIG', `${size} bytes`)
}

function missing(): never {
  throw new ErrnoError('ENOENT', 'no such node')
}

function badHandle(): never {
  throw new ErrnoError('EBADF', 'no such handle')
}
