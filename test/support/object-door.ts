// The door to the filesystem object itself, without a kernel: turns calls with paths into the operations that the kernel would
// send, in its order. Every lookup reference is given back by `forget`.

import { rootIno, type Attributes, type Operations } from '../../src/fs/operations.ts'
import type { Calls, Door, OpenFile, OpenMode } from './door.ts'
import { failure, flagsOf, namesIn, openedFile, statOf, thisProcess, translated } from './object-file.ts'

/** Returns calls to `operations`, made by a program of this name. */
export function objectDoor(operations: Operations, program?: string): Calls & Pick<Door, 'name'> {
  const caller = { ...thisProcess(), program }

  /** The kernel's cache of names: each holds one lookup reference on its node, until the name is dropped. */
  const seen = new Map<string, number>()

  /** LOOKUP of a name; its reference goes into the cache of names. */
  async function lookup(parent: number, path: string, name: string): Promise<Attributes | undefined> {
    const { attributes } = await operations.lookup(parent, name, caller)
    if (attributes === undefined) forgetName(path)
    else remember(path, attributes.ino)
    return attributes
  }

  /** Caches a name, which takes over one reference on `ino`. */
  function remember(path: string, ino: number): void {
    const before = seen.get(path)
    if (before !== undefined) operations.forget(before, 1)
    seen.set(path, ino)
  }

  /** Drops a name and all below it from the cache, and FORGETs their references. */
  function forgetName(path: string): void {
    for (const [known, ino] of seen) {
      if (known !== path && !known.startsWith(`${path}/`)) continue
      seen.delete(known)
      operations.forget(ino, 1)
    }
  }

  /** Looks a path up, and calls `use` with its attributes. */
  async function withNode<T>(path: string, use: (node: Attributes) => Promise<T>): Promise<T> {
    try {
      let node = (await operations.getattr(rootIno, undefined, caller)).attributes
      let at = ''
      for (const name of segmentsOf(path)) {
        if (node.kind !== 'folder') throw failure('ENOTDIR', path)
        at += `/${name}`
        const child = await lookup(node.ino, at, name)
        if (child === undefined) throw failure('ENOENT', path)
        node = child
      }
      return await use(node)
    } catch (error) {
      throw translated(error)
    }
  }

  /** Looks the parent folder of a path up, and calls `use` with it and the last name. */
  function withParent<T>(path: string, use: (parent: number, name: string) => Promise<T>): Promise<T> {
    const names = segmentsOf(path)
    const name = names.pop() ?? ''
    return withNode(`/${names.join('/')}`, async (parent) => {
      if (parent.kind !== 'folder') throw failure('ENOTDIR', path)
      return use(parent.ino, name)
    })
  }

  /** open(2): LOOKUP, then CREATE or OPEN, then SETATTR where it truncates. An open file holds a reference of its own. */
  function open(path: string, mode: OpenMode, permissions = 0o644): Promise<OpenFile> {
    const flags = flagsOf(mode)
    const creates = mode !== 'r' && mode !== 'r+'
    return withParent(path, async (parent, name) => {
      const found = await lookup(parent, path, name)
      if (found === undefined) {
        if (!creates) throw failure('ENOENT', path)
        const options = { mode: permissions, flags, exclusive: mode.startsWith('wx') }
        const { entry, opened } = await operations.create(parent, name, options, caller)
        remember(path, entry.attributes.ino)
        operations.remember(entry.attributes.ino)
        return openedFile(operations, caller, { ino: entry.attributes.ino, fh: opened.fh, flags, mode })
      }
      if (mode.startsWith('wx')) throw failure('EEXIST', path)
      if (found.kind === 'folder' && flags.write) throw failure('EISDIR', path)
      const { fh } = await operations.open(found.ino, { ...flags, truncate: false }, caller)
      operations.remember(found.ino)
      if (flags.truncate) {
        try {
          await operations.setattr(found.ino, { size: 0 }, undefined, caller)
        } catch (error) {
          // open(2) fails, so the kernel releases the handle at once.
          await Promise.resolve(operations.release(fh)).catch(() => {})
          operations.forget(found.ino, 1)
          throw error
        }
      }
      return openedFile(operations, caller, { ino: found.ino, fh, flags, mode })
    })
  }

  async function withFile<T>(path: string, mode: OpenMode, use: (file: OpenFile) => Promise<T>): Promise<T> {
    const file = await open(path, mode)
    let result: T
    try {
      result = await use(file)
    } catch (error) {
      await file.close().catch(() => {})
      throw error
    }
    await file.close()
    return result
  }

  return {
    name: 'object',
    open,
    readFile: (path) => withFile(path, 'r', async (file) => file.read((await file.stat()).size + 1, 0)),
    writeFile: (path, data) => withFile(path, 'w', (file) => file.write(data, 0)),
    appendFile: (path, data) => withFile(path, 'a', (file) => file.write(data, 0)),
    stat: (path) => withNode(path, async (node) => statOf(node)),
    async statfs() {
      const { blockSizeBytes, blocks, blocksFree } = operations.statfs()
      return { sizeBytes: blockSizeBytes * blocks, freeBytes: blockSizeBytes * blocksFree }
    },
    readdir: (path) =>
      withNode(path, async (node) => {
        if (node.kind !== 'folder') throw failure('ENOTDIR', path)
        return namesIn(operations, caller, node.ino)
      }),
    syncFolder: (path) => withNode(path, async (node) => operations.fsyncdir(node.ino, caller)),
    mkdir: (path) =>
      withParent(path, async (parent, name) => {
        const { attributes } = await operations.mkdir(parent, name, 0o755, caller)
        remember(path, attributes.ino)
      }),
    rmdir: (path) =>
      withParent(path, async (parent, name) => {
        await operations.rmdir(parent, name, caller)
        forgetName(path)
      }),
    unlink: (path) =>
      withParent(path, async (parent, name) => {
        await operations.unlink(parent, name, caller)
        forgetName(path)
      }),
    rename: (from, to) =>
      withParent(from, (parent, name) =>
        withParent(to, async (newParent, newName) => {
          const flags = { noReplace: false, exchange: false }
          await operations.rename(parent, name, newParent, newName, flags, caller)
          // The kernel would rename its cached names; dropping them is allowed, too, and simpler.
          forgetName(from)
          if (to !== from) forgetName(to)
        }),
      ),
    truncate: (path, size) =>
      withNode(path, async (node) => {
        await operations.setattr(node.ino, { size }, undefined, caller)
      }),
    chmod: (path, mode) =>
      withNode(path, async (node) => {
        await operations.setattr(node.ino, { mode }, undefined, caller)
      }),
    utimes: (path, atimeSec, mtimeSec) =>
      withNode(path, async (node) => {
        await operations.setattr(
          node.ino,
          { atime: timeOf(atimeSec), mtime: timeOf(mtimeSec) },
          undefined,
          caller,
        )
      }),
    link: async (path) => Promise.reject(failure('ENOSYS', path)),
    symlink: async (_target, path) => Promise.reject(failure('ENOSYS', path)),
  }
}

function segmentsOf(path: string): string[] {
  return path.split('/').filter((name) => name !== '')
}

function timeOf(seconds: number): { sec: number; nsec: number } {
  const sec = Math.floor(seconds)
  return { sec, nsec: Math.round((seconds - sec) * 1_000_000) * 1_000 }
}
