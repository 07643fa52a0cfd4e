// A document project as a POSIX-shaped object: the operation table. Each operation is implemented in a file of its own.

import { dismissSetAside } from '../content/spool/set-aside.ts'
import type { FileSystem, FileSystemOptions } from './contract.ts'
import { copyFileRange } from './calls/copy.ts'
import { mkdir, opendir, readdir, releasedir } from './calls/folders.ts'
import { getattr, lookup } from './calls/lookup.ts'
import { lookupByNumber } from './calls/lookup-by-number.ts'
import { folderAt, listAnew, peek, peekName } from './control/watched-folders.ts'
import { create, open, release } from './calls/open.ts'
import { read } from './calls/read.ts'
import { write } from './calls/write.ts'
import { cacheStatus, clearCache } from './pins/cache.ts'
import { fetchOnce } from './pins/fetch-once.ts'
import { free } from './pins/free.ts'
import { withPins } from './pins/follow-rename.ts'
import { attributeOf, setAttribute } from './control/attributes.ts'
import { withSharedLocks } from './locks/with-shared-locks.ts'
import { folderStatus } from './control/folder-status.ts'
import { linkOf } from './control/link.ts'
import { explain } from './control/explain.ts'
import { report } from './control/report.ts'
import { placeOf } from './control/place.ts'
import { readOnly } from './wrappers/read-only.ts'
import { statfsOf } from './calls/statfs.ts'
import { withFullDisk } from './wrappers/full-disk.ts'
import { rename } from './calls/rename.ts'
import { rmdir } from './calls/rmdir.ts'
import { fallocate, setattr } from './calls/setattr.ts'
import { start, stop } from './start.ts'
import { givableBytes, makeRoom } from './control/make-room.ts'
import { formerUnder, toRestore } from './control/undo.ts'
import { drain, recoverTo, retry, wait } from './control/control.ts'
import { status } from './control/gather-status.ts'
import { checkStateDir } from './unsent/state-dir-watch.ts'
import { unsentUnder } from './unsent/unsent-now.ts'
import { refresh } from './control/refresh.ts'
import { watchFolder } from './control/watch-folder.ts'
import type { Superblock } from './superblock.ts'
import { traced, type Places } from './wrappers/traced.ts'
import { unlink } from './calls/unlink.ts'

/**
 * Opens a project as a filesystem: takes up the changes that an earlier run left unsent, and lists the root, so that a wrong
 * key or an unknown project fails here. Throws ErrnoError (EINVAL for an option, EBUSY for a state folder in use), ApiError,
 * NetworkError.
 */
export async function createFileSystem(options: FileSystemOptions): Promise<FileSystem> {
  const sb = await start(options)
  const own = operationsOf(sb)
  const operations = sb.settings.shareLocks ? await withSharedLocks(sb, own) : own
  const withRetry = withFullDisk(operations, { makeRoom: () => makeRoom(sb), tell: sb.tell })
  const permitted = options.readOnly === true ? readOnly(withRetry) : withRetry
  return options.onOperation === undefined
    ? permitted
    : traced(permitted, placesOf(sb), options.onOperation, sb.clock)
}

function placesOf(sb: Superblock): Places {
  return {
    node: (ino) => sb.tree.nodes.find(ino)?.path ?? sb.tree.former.pathOf(ino) ?? `node ${ino}`,
    handle: (fh) => sb.handles.find(fh)?.node.path ?? `handle ${fh}`,
  }
}

/** Returns the operations of a filesystem that `start` put together. */
export function operationsOf(sb: Superblock): FileSystem {
  const operations: FileSystem = {
    lookup: (parent, name, caller) =>
      // A re-export by NFS finds a node so, of which it knows the number alone.
      name === '.' || name === '..'
        ? lookupByNumber(sb, parent, name, caller)
        : lookup(sb, parent, name, caller),
    forget: (ino, count) => sb.tree.nodes.forget(ino, count),
    remember: (ino) => sb.tree.nodes.remember(ino),
    getattr: (ino, fh, caller) => getattr(sb, ino, fh, caller),
    setattr: (ino, change, fh, caller) => setattr(sb, ino, change, fh, caller),
    opendir: (ino, caller) => opendir(sb, ino, caller),
    readdir: (fh, cookie, filler, caller) => readdir(sb, fh, cookie, filler, caller),
    releasedir: (fh) => releasedir(sb, fh),
    // Syncs every folder at once: there is one journal.
    fsyncdir: () => sb.journal.durable(),
    open: (ino, flags, caller) => open(sb, ino, flags, caller),
    create: (parent, name, options, caller) => create(sb, parent, name, options, caller),
    read: (fh, offset, length, caller) => read(sb, fh, offset, length, caller),
    write: (fh, offset, data, caller) => write(sb, fh, offset, data, caller),
    flush: (fh, caller) => {
      const { node, flags } = sb.handles.file(fh)
      return flags.write ? sb.saves.flush(node, caller) : undefined
    },
    fsync: (fh, caller) => sb.saves.fsync(sb.handles.file(fh).node, caller.signal),
    release: (fh) => release(sb, fh),
    fallocate: (fh, offset, length, keepSize, caller) => fallocate(sb, fh, offset + length, keepSize, caller),
    copyFileRange: (fhIn, offsetIn, fhOut, offsetOut, length, caller) =>
      copyFileRange(sb, fhIn, fhOut, { offsetIn, offsetOut, length }, caller),
    mkdir: (parent, name, mode, caller) => mkdir(sb, parent, name, mode, caller),
    unlink: (parent, name, caller) => unlink(sb, parent, name, caller),
    rmdir: (parent, name, caller) => rmdir(sb, parent, name, caller),
    rename: (parent, name, newParent, newName, flags, caller) =>
      withPins(sb, { parent, name, newParent, newName }, () =>
        rename(sb, parent, name, newParent, newName, { flags, caller }),
      ),
    statfs: statfsOf(sb.settings.stateDir, sb, () => givableBytes(sb)),

    attachNotifier: (notifier) => {
      sb.tree.notifier = notifier
    },
    attachWatcher: (watcher) => {
      sb.tree.watcher = watcher
      return sb.settings.cacheTtlMs
    },
    folderAt: (ino) => folderAt(sb.tree, ino),
    peek: (ino) => peek(sb, ino),
    peekName: (folder, name) => peekName(sb, folder, name),
    listAnew: (folder) => listAnew(sb, folder),
    status: () => status(sb),
    place: (path) => placeOf(sb, path),
    explain: (path) => explain(sb, path),
    report: () => report(sb),
    folder: (path) => folderStatus(sb, path),
    watchFolder: (path, how) => watchFolder(sb, path, how),
    attribute: (ino, name) => attributeOf(sb, ino, name),
    setAttribute: (ino, name, change) => setAttribute(sb, ino, name, change),
    link: (path) => linkOf(sb, path),
    conflictResolved: (copy) => sb.conflicts.resolved(copy),
    dismissNames: (path) => sb.refusedNames.dismiss(path),
    dismissDamage: () => {
      sb.damageReports.dismiss()
      return dismissSetAside(sb.settings.stateDir, sb.disk)
    },
    lookAgain: () => sb.conflicts.loadListings(sb.tree),
    checkStateDir: () => checkStateDir(sb),
    unsent: (path) => unsentUnder(sb, path),
    wait: (path, options) => wait(sb, path, options),
    refresh: async (path) => {
      await refresh(sb, path)
      sb.pins.look()
    },
    retry: (path) => {
      sb.pins.look()
      return retry(sb, path)
    },
    pause: () => sb.queue.pause('asked'),
    resume: () => sb.queue.goOn('asked'),
    pin: (path, { signal }) => sb.pins.pin(path, signal),
    unpin: (path) => sb.pins.unpin(path),
    free: (path, { signal }) => free(sb, path, signal),
    pins: () => sb.pins.status(),
    fetch: (path, options) =>
      fetchOnce({ ...sb, store: sb.pinStore, cacheDir: sb.settings.cacheDir }, path, options),
    cache: () => cacheStatus(sb.reader, sb.settings.cacheDir),
    clearCache: async (options) => {
      const before = await clearCache(sb.reader, sb.settings.cacheDir, options)
      if (options.withPinned) sb.pins.look()
      return before
    },
    recover: (path, destination) => recoverTo(sb, path, destination),
    recoverLost: (destination) => sb.lost.giveBack(destination),
    drain: (how) => drain(sb, how),
    keepsFormer: sb.undo.isOn,
    former: (path) => formerUnder(sb, path),
    toRestore: (path, at) => toRestore(sb, path, at),
    restored: (ids) => sb.undo.restored(ids),
    emptyUndo: () => sb.undo.giveUp(Infinity),
    close: () => stop(sb),
  }
  return operations
}
