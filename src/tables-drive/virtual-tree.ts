// The file operations of the virtual tree: folders made by the drive, generated files, and files dropped by programs, which the
// target of their folder processes.

import { ErrnoError } from '../errno-error.ts'
import { timeOfMs } from '../fs/tree/attributes.ts'
import type {
  AttributeChange,
  Caller,
  CreateOptions,
  Entry,
  Filler,
  MaybePromise,
  NegativeEntry,
  OpenFlags,
  Opened,
  OpenedFolder,
  Operations,
} from '../fs/operations.ts'
import { andThen } from '../maybe-promise.ts'
import { checkFileSize, Content } from './content.ts'
import { checkDropName } from './drop-names.ts'
import { Handles } from './handles.ts'
import { renameDrop } from './rename-drop.ts'
import { takeUp, type TakeUpParts } from './take-up.ts'
import type { VirtualNode } from './virtual-node.ts'

/** All operations but `statfs`, which the drive answers. */
export type TreeOperations = Omit<Operations, 'statfs'>

/** The operations on the nodes of `parts`. Handles are 1 and up. */
export function virtualTree(parts: TakeUpParts): TreeOperations {
  const { nodes, quota, now } = parts
  const handles = new Handles()

  function lookup(parent: number, name: string, { signal }: Caller): MaybePromise<Entry | NegativeEntry> {
    const folder = nodes.getFolder(parent)
    return andThen(folder.refreshChildren?.(signal), () => {
      const node = folder.children.get(name)
      if (node === undefined) return { attributes: undefined, entryTtlMs: 0 }
      return andThen(node.refreshContent?.(signal), () => {
        node.door.remember()
        return nodes.entryOf(node)
      })
    })
  }

  function setattr(ino: number, change: AttributeChange): Entry {
    const node = nodes.get(ino)
    checkChangeable(node)
    const { uid, gid } = nodes.owner
    if ((change.uid ?? uid) !== uid || (change.gid ?? gid) !== gid) {
      throw new ErrnoError('EPERM', 'all files belong to whoever mounted the drive')
    }
    if (change.size !== undefined) resize(node, change.size)
    const at = timeOfMs(now())
    if (change.mode !== undefined) node.mode = change.mode & 0o7777
    if (change.atime !== undefined) node.atime = change.atime === 'now' ? at : change.atime
    if (change.mtime !== undefined) node.mtime = change.mtime === 'now' ? at : change.mtime
    node.ctime = at
    return nodes.entryOf(node)
  }

  function resize(node: VirtualNode, size: number): void {
    if (node.content === undefined) throw new ErrnoError('EISDIR', `${node.name} is a folder`)
    checkFileSize(size)
    if (node.isAttached) quota.setSize(node, size)
    node.content.truncate(size)
    // Emptied: what follows is another file, none of whose rows were sent.
    if (size === 0) node.rowsSent = undefined
    node.touch(now())
  }

  async function opendir(ino: number, { signal }: Caller): Promise<OpenedFolder> {
    const node = nodes.getFolder(ino)
    await node.refreshChildren?.(signal)
    // A listing shows sizes, so contents are loaded. A failed load does not fail the listing: opening that file shows the error.
    await Promise.allSettled([...node.children.values()].map(async (child) => child.refreshContent?.(signal)))
    return { fh: handles.add({ node, children: undefined }), keepListing: false }
  }

  function readdir(fh: number, cookie: number, filler: Filler): void {
    const handle = handles.folder(fh)
    if (cookie === 0 || handle.children === undefined) handle.children = [...handle.node.children.values()]
    for (let i = cookie; i < handle.children.length; i++) {
      const node = handle.children[i] as VirtualNode
      if (!node.isAttached) continue
      const { name, ino, kind } = node
      if (!filler({ name, ino, kind, entry: () => nodes.entryOf(node) }, i + 1)) return
    }
  }

  function open(ino: number, flags: OpenFlags, { signal }: Caller): MaybePromise<Opened> {
    const node = nodes.get(ino)
    if (node.kind === 'folder') throw new ErrnoError('EISDIR', `${node.name} is a folder`)
    if (flags.write || flags.truncate) checkWritable(node)
    return andThen(node.refreshContent?.(signal), () => {
      if (flags.truncate) resize(node, 0)
      return openedFile(node, flags)
    })
  }

  function openedFile(node: VirtualNode, flags: OpenFlags): Opened {
    const content = node.content ?? new Content()
    return {
      fh: handles.add({ node, content, flags }),
      keepCache: false,
      directIo: false,
      hasNothingToFlush: !flags.write,
    }
  }

  function create(parent: number, name: string, options: CreateOptions): { entry: Entry; opened: Opened } {
    const folder = nodes.getFolder(parent)
    if (folder.target === undefined) throw new ErrnoError('EPERM', `${folder.name}: no files are taken here`)
    const existing = folder.children.get(name)
    if (existing !== undefined && options.exclusive) throw new ErrnoError('EEXIST', `${name} exists`)
    if (existing !== undefined) checkWritable(existing)
    else checkDropName(name)
    const node = existing ?? addFile(folder, name, options.mode)
    if (existing !== undefined && options.flags.truncate) resize(existing, 0)
    node.door.remember()
    return { entry: nodes.entryOf(node), opened: openedFile(node, options.flags) }
  }

  function addFile(parent: VirtualNode, name: string, mode: number): VirtualNode {
    const node = nodes.add({ kind: 'file', name, parent, mode: mode & 0o7777, mtimeMs: now() })
    node.content = new Content()
    quota.setSize(node, 0)
    return node
  }

  function write(fh: number, offset: number | 'end', data: Uint8Array): number {
    const { node, content, flags } = handles.file(fh)
    if (!flags.write) throw new ErrnoError('EBADF', `${node.name} is not open for writing`)
    const at = offset === 'end' ? content.size : offset
    const size = Math.max(content.size, at + data.length)
    checkFileSize(size)
    if (node.isAttached) quota.setSize(node, size)
    content.write(at, data)
    node.touch(now())
    return data.length
  }

  function flush(fh: number, { signal }: Caller): MaybePromise<void> {
    const { node, flags } = handles.file(fh)
    const { parent: folder, name } = node
    if (!flags.write || folder === undefined || !node.isAttached) return undefined
    // The close waits for the target, and fails if that refuses the file. The next close without a write has the same outcome.
    return takeUp(parts, node, { folder, name }, signal)
  }

  function release(fh: number): void {
    const node = handles.remove(fh)
    if (node !== undefined) nodes.dropIfUnused(node)
  }

  function unlink(parent: number, name: string): void {
    const folder = nodes.getFolder(parent)
    const node = folder.children.get(name)
    if (node === undefined) throw new ErrnoError('ENOENT', `no ${name} here`)
    if (node.kind === 'folder') throw new ErrnoError('EISDIR', `${name} is a folder`)
    if (folder.target === undefined) throw madeByDrive(name)
    nodes.detach(node)
  }

  function extend(fh: number, end: number, keepSize: boolean): void {
    const { node, content } = handles.file(fh)
    if (!keepSize && content.size < end) resize(node, end)
  }

  return {
    lookup,
    forget: (ino, count) => nodes.forget(ino, count),
    remember: (ino) => nodes.remember(ino),
    getattr(ino, fh, { signal }) {
      const node = nodes.get(ino)
      // An open file was refreshed when it was opened.
      if (fh !== undefined) return nodes.entryOf(node)
      return andThen(node.refreshContent?.(signal), () => nodes.entryOf(node))
    },
    setattr,
    opendir,
    readdir,
    releasedir: release,
    open,
    create,
    read: (fh, offset, length) => [handles.file(fh).content.read(offset, length)],
    write,
    flush,
    // Files are in memory only, and close reports the result.
    fsync: () => undefined,
    fsyncdir: () => undefined,
    release,
    fallocate: (fh, offset, length, keepSize) => extend(fh, offset + length, keepSize),
    copyFileRange() {
      throw new ErrnoError('EOPNOTSUPP', 'copied by reading and writing')
    },
    mkdir(parent, name) {
      const exists = nodes.getFolder(parent).children.has(name)
      throw new ErrnoError(exists ? 'EEXIST' : 'EPERM', `${name}: folders here are made by the drive`)
    },
    unlink,
    rmdir(parent, name) {
      const node = nodes.getFolder(parent).children.get(name)
      if (node === undefined) throw new ErrnoError('ENOENT', `no ${name} here`)
      throw node.kind === 'file' ? new ErrnoError('ENOTDIR', `${name} is a file`) : madeByDrive(name)
    },
    rename: (parent, name, newParent, newName, flags, { signal }) =>
      renameDrop(
        parts,
        { folder: nodes.getFolder(parent), name },
        { folder: nodes.getFolder(newParent), name: newName },
        { flags, signal },
      ),
  }
}

/** Throws EACCES for files that the drive writes itself. */
function checkWritable(node: VirtualNode): void {
  if (node.parent?.target === undefined || (node.mode & 0o222) === 0) {
    throw new ErrnoError('EACCES', `${node.name} is written by the drive`)
  }
}

function checkChangeable(node: VirtualNode): void {
  if (node.parent?.target === undefined) throw madeByDrive(node.name)
}

function madeByDrive(name: string): ErrnoError {
  return new ErrnoError('EPERM', `${name} is made by the drive`)
}
