// The operation table with lock files that several machines see (`--share-locks`): a wrapper around the calls that make, find, write
// and remove such files. All others pass.

import { join } from 'node:path'
import { andThen } from '../../maybe-promise.ts'
import type { WatchedFiles } from '../../content/reach/watched-files.ts'
import type { Reach } from '../../content/reach/reach.ts'
import type { Log } from '../../log.ts'
import type { Chance } from '../../world/chance.ts'
import type { Clock } from '../../world/clock.ts'
import type { Disk } from '../../world/disk.ts'
import type { FileSystem } from '../contract.ts'
import type { Entry, Filler } from '../operations.ts'
import { FileHandle, type HandleTable } from '../tree/handles.ts'
import { pathIn, type Node } from '../tree/node.ts'
import { isLockName } from '../tree/scratch.ts'
import type { Tree } from '../tree/tree.ts'
import type { ListedLocks } from './hide-lock-documents.ts'
import { SharedLocks } from './shared-locks.ts'
import { StoredLocks } from './stored-locks.ts'

export interface SharedLocksParts {
  readonly settings: {
    readonly stateDir: string
    readonly hostName: string
    readonly cacheTtlMs: number
    readonly readOnly: boolean
  }
  readonly files: WatchedFiles
  readonly reach: Reach
  readonly tree: Tree
  readonly handles: HandleTable
  readonly listedLocks: ListedLocks
  readonly localOnly: { all(): Iterable<Node> }
  readonly clock: Clock
  readonly chance: Chance
  readonly disk: Disk
  readonly log: Log
}

/** Returns the filesystem that shares locks. Removes lock files that an earlier run has left. */
export async function withSharedLocks(parts: SharedLocksParts, inner: FileSystem): Promise<FileSystem> {
  const { settings, tree, handles, files, clock, disk, log } = parts
  const file = join(settings.stateDir, 'locks.json')
  const locks = new SharedLocks({
    ...parts,
    ...settings,
    stored: new StoredLocks({ files, disk, file, now: clock.wall, log }),
    local: inner,
    ttlMs: settings.cacheTtlMs,
  })
  await locks.begin([...parts.localOnly.all()])

  const isShared = (parent: number, name: string): boolean =>
    isLockName(name) && locks.isShared(tree.nodes.getFolder(parent), name)

  /** The next call asks the service again. */
  const uncached = <T extends { readonly entryTtlMs: number }>(entry: T): T => ({ ...entry, entryTtlMs: 0 })

  return {
    ...inner,
    lookup(parent, name, caller) {
      if (!isShared(parent, name)) return inner.lookup(parent, name, caller)
      const looked = locks.look(tree.nodes.getFolder(parent), name)
      return looked.then(() => inner.lookup(parent, name, caller)).then((entry) => uncached(entry as Entry))
    },
    create(parent, name, options, caller) {
      const make = (): ReturnType<typeof inner.create> => inner.create(parent, name, options, caller)
      if (!isLockName(name)) return make()
      const made = locks.create(tree.nodes.getFolder(parent), name, caller, make)
      return made.then(({ entry, opened }) => ({ entry: uncached(entry), opened }))
    },
    opendir(ino, caller) {
      return andThen(inner.opendir(ino, caller), (opened) => {
        const shown = locks.showListed(tree.nodes.getFolder(ino))
        return shown === undefined ? opened : shown.then(() => ({ ...opened, keepListing: false }))
      })
    },
    readdir(fh, cookie, filler, caller) {
      const asking: Filler = (child, next) =>
        filler(isLockName(child.name) ? { ...child, entry: () => undefined } : child, next)
      return inner.readdir(fh, cookie, asking, caller)
    },
    flush(fh, caller) {
      const { node, flags } = handles.file(fh)
      const flushed = inner.flush(fh, caller)
      if (locks.isWaiting) void Promise.resolve(flushed).then(locks.update.bind(locks), () => {})
      if (!flags.write || !isLockName(node.name)) return flushed
      return Promise.resolve(flushed).then(() => locks.written(node, caller, false))
    },
    release(fh) {
      const handle = handles.find(fh)
      return andThen(inner.release(fh), () => {
        if (!(handle instanceof FileHandle) || !handle.flags.write || !isLockName(handle.node.name))
          return undefined
        return locks.written(handle.node, {}, true).catch(() => {})
      })
    },
    unlink(parent, name, caller) {
      if (!isLockName(name)) return inner.unlink(parent, name, caller)
      const folder = tree.nodes.getFolder(parent)
      const [node, path] = [tree.keptChild(folder, name), pathIn(folder, name)]
      return andThen(inner.unlink(parent, name, caller), () => locks.removed(node, path))
    },
    rmdir(parent, name, caller) {
      const folder = tree.keptChild(tree.nodes.getFolder(parent), name)
      const shown = folder?.folder === undefined ? undefined : locks.showListed(folder)
      return andThen(shown, () => inner.rmdir(parent, name, caller))
    },
    async rename(parent, name, newParent, newName, flags, caller) {
      await inner.rename(parent, name, newParent, newName, flags, caller)
      const node = isLockName(newName) ? tree.keptChild(tree.nodes.getFolder(newParent), newName) : undefined
      if (node !== undefined) await locks.written(node, caller, true)
      await locks.update()
    },
    async close() {
      await locks.end()
      await inner.close()
    },
  }
}
