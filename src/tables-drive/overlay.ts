// Adds a folder to the root of a drive, with a file tree of its own (`TreeOperations`) in it.
//
//   node ids    below `overlayIno`: the drive's     from there on: the tree's
//   handles     new numbers for both sides, so that the same number on both sides cannot be confused

import { ErrnoError } from '../errno-error.ts'
import type { FileSystem } from '../fs/contract.ts'
import { HandleNumbers } from '../fs/tree/handle-numbers.ts'
import { type Caller, type Filler, type MaybePromise, rootIno } from '../fs/operations.ts'
import { andThen } from '../maybe-promise.ts'
import type { TreeOperations } from './virtual-tree.ts'

/**
 * Node id of the tree's root; its other nodes follow. Its lower 32 bits are far from the drive's ids, too: a door may show only
 * these, and programs take two files with the same inode number for one.
 */
export const overlayIno: number = 2 ** 48 + 2 ** 31

export interface OverlayOptions {
  /** Name of the folder in the root. */
  readonly name: string
  readonly tree: TreeOperations
  /** Called when the drive itself has a node of this name, which the folder hides. */
  readonly onHidden: () => void
}

/** An open file or folder of either side. */
interface SideHandle {
  readonly side: TreeOperations
  readonly fh: number
  /** True for a handle of the root, whose listing gets the folder. */
  readonly isRoot: boolean
}

/** Returns the filesystem with the folder added. */
export function overlay(inner: FileSystem, { name: ownName, tree, onHidden }: OverlayOptions): FileSystem {
  const handles = new HandleNumbers<SideHandle>()

  const sideOf = (ino: number): TreeOperations => (ino >= overlayIno ? tree : inner)
  const isOwn = (parent: number, name: string): boolean => parent === rootIno && name === ownName

  /** Calls an operation of the handle's side with that side's own number. */
  function at<T>(fh: number, use: (side: TreeOperations, fh: number) => T): T {
    const { side, fh: inside } = handles.get(fh)
    return use(side, inside)
  }

  /** As `at`, for the last call of a handle: its number is free afterwards. */
  function end<T>(fh: number, use: (side: TreeOperations, fh: number) => T): T | undefined {
    const found = handles.take(fh)
    return found === undefined ? undefined : use(found.side, found.fh)
  }

  /** Returns the side's own number of a handle. */
  const inside = (fh: number | undefined): number | undefined =>
    fh === undefined ? undefined : handles.get(fh).fh

  function readdir(fh: number, cookie: number, filler: Filler, caller: Caller): MaybePromise<void> {
    const { side, fh: sideFh, isRoot } = handles.get(fh)
    if (!isRoot) return side.readdir(sideFh, cookie, filler, caller)
    // The folder comes first, and takes the first cookie.
    if (cookie === 0 && !filler(ownChild(caller), 1)) return undefined
    const hiding: Filler = (child, next) => {
      if (child.name !== ownName) return filler(child, next + 1)
      onHidden()
      return true
    }
    return side.readdir(sideFh, Math.max(0, cookie - 1), hiding, caller)
  }

  function ownChild(caller: Caller): Parameters<Filler>[0] {
    // The attributes of the tree's root are returned synchronously.
    const entry = tree.getattr(overlayIno, undefined, caller) as Exclude<
      ReturnType<typeof tree.getattr>,
      Promise<unknown>
    >
    return { name: ownName, ino: overlayIno, kind: 'folder', entry: () => entry }
  }

  function refuseOwn(parent: number, name: string, code: string): void {
    if (isOwn(parent, name)) throw new ErrnoError(code, `${ownName} is made by the drive`)
  }

  return {
    ...inner,
    lookup(parent, name, caller) {
      if (!isOwn(parent, name)) return sideOf(parent).lookup(parent, name, caller)
      tree.remember(overlayIno)
      return tree.getattr(overlayIno, undefined, caller)
    },
    forget: (ino, count) => sideOf(ino).forget(ino, count),
    remember: (ino) => sideOf(ino).remember(ino),
    getattr: (ino, fh, caller) => sideOf(ino).getattr(ino, inside(fh), caller),
    setattr: (ino, change, fh, caller) => sideOf(ino).setattr(ino, change, inside(fh), caller),
    opendir(ino, caller) {
      const side = sideOf(ino)
      return andThen(side.opendir(ino, caller), (opened) => ({
        ...opened,
        fh: handles.add({ side, fh: opened.fh, isRoot: ino === rootIno }),
      }))
    },
    readdir,
    releasedir: (fh) => end(fh, (side, sideFh) => side.releasedir(sideFh)),
    fsyncdir: (ino, caller) => sideOf(ino).fsyncdir(ino, caller),
    open(ino, flags, caller) {
      const side = sideOf(ino)
      return andThen(side.open(ino, flags, caller), (opened) => ({
        ...opened,
        fh: handles.add({ side, fh: opened.fh, isRoot: false }),
      }))
    },
    create(parent, name, options, caller) {
      refuseOwn(parent, name, 'EISDIR')
      const side = sideOf(parent)
      return andThen(side.create(parent, name, options, caller), ({ entry, opened }) => ({
        entry,
        opened: { ...opened, fh: handles.add({ side, fh: opened.fh, isRoot: false }) },
      }))
    },
    read: (fh, offset, length, caller) => at(fh, (side, own) => side.read(own, offset, length, caller)),
    write: (fh, offset, data, caller) => at(fh, (side, own) => side.write(own, offset, data, caller)),
    flush: (fh, caller) => at(fh, (side, own) => side.flush(own, caller)),
    fsync: (fh, caller) => at(fh, (side, own) => side.fsync(own, caller)),
    release: (fh) => end(fh, (side, own) => side.release(own)),
    fallocate: (fh, offset, length, keepSize, caller) =>
      at(fh, (side, own) => side.fallocate(own, offset, length, keepSize, caller)),
    copyFileRange(fhIn, offsetIn, fhOut, offsetOut, length, caller) {
      const from = handles.get(fhIn)
      const to = handles.get(fhOut)
      if (from.side !== to.side) throw new ErrnoError('EOPNOTSUPP', 'copied by reading and writing')
      return from.side.copyFileRange(from.fh, offsetIn, to.fh, offsetOut, length, caller)
    },
    mkdir(parent, name, mode, caller) {
      refuseOwn(parent, name, 'EEXIST')
      return sideOf(parent).mkdir(parent, name, mode, caller)
    },
    unlink(parent, name, caller) {
      refuseOwn(parent, name, 'EISDIR')
      return sideOf(parent).unlink(parent, name, caller)
    },
    rmdir(parent, name, caller) {
      refuseOwn(parent, name, 'EPERM')
      return sideOf(parent).rmdir(parent, name, caller)
    },
    rename(parent, name, newParent, newName, flags, caller) {
      refuseOwn(parent, name, 'EPERM')
      refuseOwn(newParent, newName, 'EEXIST')
      const side = sideOf(parent)
      // On EXDEV, mv(1) copies the file and removes the original.
      if (side !== sideOf(newParent)) throw new ErrnoError('EXDEV', `${name} is copied across`)
      return side.rename(parent, name, newParent, newName, flags, caller)
    },
  }
}
