// The binding's callbacks, on top of `Operations`. They take paths, and reply with negative errnos.
//
// Left out on purpose: access (the kernel checks modes itself), values of extended attributes (each implemented call costs one
// per write and per listed name), opendir and releasedir (readdir does not get the handle). The kernel gets ENOSYS once, and
// stops sending them.

import { constants } from 'node:fs'

import type { AttributeChange, OpenFlags } from '../../fs/operations.ts'
import { Refusal } from '../refusal.ts'
import { readListing } from './listing.ts'
import { openCallbacks, type OpenCallbacks } from './open-callbacks.ts'
import type { ParentAndName } from './paths.ts'
import type { NativeRequest } from './request.ts'
import type { NativeSession, Reply } from './session.ts'
import { nativeStat, nativeStatfs, timeOf, type NativeStat, type NativeStatfs } from './stat.ts'

export interface NativeCallbacks extends OpenCallbacks {
  getattr(path: string, reply: Reply<[NativeStat]>): void
  readdir(path: string, reply: Reply<[string[], NativeStat[]]>): void
  fsyncdir(path: string, dataOnly: number, fh: number, reply: Reply): void
  statfs(path: string, reply: Reply<[NativeStatfs]>): void
  truncate(path: string, size: number, reply: Reply): void
  chmod(path: string, mode: number, reply: Reply): void
  chown(path: string, uid: number, gid: number, reply: Reply): void
  utimens(path: string, atimeMs: number, mtimeMs: number, reply: Reply): void
  mkdir(path: string, mode: number, reply: Reply): void
  mknod(path: string, mode: number, device: number, reply: Reply): void
  unlink(path: string, reply: Reply): void
  rmdir(path: string, reply: Reply): void
  rename(from: string, to: string, reply: Reply): void
  link(from: string, to: string, reply: Reply): void
  symlink(target: string, path: string, reply: Reply): void
}

/** More callbacks for a drive that a file server may enter (`isOpenToFileServers`): an empty list of extended attributes. */
export const fileServerCallbacks: {
  listxattr(path: string, reply: (errno: number, names: readonly string[]) => void): void
} = {
  listxattr: (_path, reply) => reply(0, []),
}

/** chown's value for an id that is not to be changed: −1 as an unsigned 32-bit number. */
const unchanged = 2 ** 32 - 1
const noFlags = { noReplace: false, exchange: false }
const readWrite: OpenFlags = { read: true, write: true, truncate: false }

export function nativeCallbacks(session: NativeSession): NativeCallbacks {
  const { operations, names, paths, hidden, kernelSizes } = session

  function change(operation: string, path: string, wanted: AttributeChange, reply: Reply): void {
    session.serve(operation, reply, async (request) => {
      const ino = await paths.node(path, request)
      await operations.setattr(ino, wanted, undefined, request)
      kernelSizes.forget(ino)
      return [0]
    })
  }

  function remove(operation: 'unlink' | 'rmdir', path: string, reply: Reply): void {
    session.serve(operation, reply, async (request) => {
      const { parent, name } = await paths.parentAndName(path, request)
      await operations[operation](parent, name, request)
      names.drop(parent, name)
      return [0]
    })
  }

  function refuse(operation: string, reply: Reply): void {
    session.serve(operation, reply, async () => {
      throw new Refusal('EPERM', `${operation} is not for documents`)
    })
  }

  /** Renames a hidden file back to `target`. */
  async function putBack(hiddenAt: string, target: ParentAndName, request: NativeRequest): Promise<void> {
    try {
      const { parent, name } = await paths.parentAndName(hiddenAt, request)
      const flags = { noReplace: true, exchange: false }
      await operations.rename(parent, name, target.parent, target.name, flags, request)
      names.drop(parent, name)
      names.drop(target.parent, target.name)
    } catch (error) {
      session.log.error({ err: error, hiddenAt }, 'a document that was not replaced has another name now')
    }
  }

  return {
    ...openCallbacks(session),

    getattr(path, reply) {
      hidden.noteUse(path)
      session.serve('getattr', reply, async (request) => {
        const ino = await paths.node(path, request)
        const { attributes } = await operations.getattr(ino, undefined, request)
        kernelSizes.set(ino, attributes.size)
        return [0, nativeStat(attributes)]
      })
    },

    readdir(path, reply) {
      session.serve('readdir', reply, async (request) => {
        const ino = await paths.node(path, request)
        const { names: listed, stats } = await readListing(operations, ino, request)
        return [0, listed, stats]
      })
    },

    fsyncdir(path, _dataOnly, _fh, reply) {
      session.serve('fsyncdir', reply, async (request) => {
        await operations.fsyncdir(await paths.node(path, request), request)
        return [0]
      })
    },

    statfs(_path, reply) {
      session.serve('statfs', reply, async () => [0, nativeStatfs(operations.statfs())])
    },

    truncate(path, size, reply) {
      change('truncate', path, { size }, reply)
    },

    chmod(path, mode, reply) {
      change('chmod', path, { mode: mode & 0o7777 }, reply)
    },

    chown(path, uid, gid, reply) {
      change('chown', path, { ...(uid !== unchanged && { uid }), ...(gid !== unchanged && { gid }) }, reply)
    },

    // The binding passes the access time twice: the modification time gets lost.
    utimens(path, atimeMs, mtimeMs, reply) {
      change('utimens', path, { atime: timeOf(atimeMs), mtime: timeOf(mtimeMs) }, reply)
    },

    mkdir(path, mode, reply) {
      session.serve('mkdir', reply, async (request) => {
        const target = await paths.parentAndName(path, request)
        const changesBefore = names.changes
        const entry = await operations.mkdir(target.parent, target.name, mode & 0o7777, request)
        paths.cache(target, entry, changesBefore)
        return [0]
      })
    },

    mknod(path, mode, _device, reply) {
      if ((mode & constants.S_IFMT) !== constants.S_IFREG) return refuse('mknod', reply)
      session.serve('mknod', reply, async (request) => {
        const target = await paths.parentAndName(path, request)
        const options = { mode: mode & 0o7777, flags: readWrite, exclusive: true }
        const { entry, opened } = await operations.create(target.parent, target.name, options, request)
        operations.forget(entry.attributes.ino, 1)
        await operations.release(opened.fh)
        return [0]
      })
    },

    unlink(path, reply) {
      remove('unlink', path, reply)
    },

    rmdir(path, reply) {
      remove('rmdir', path, reply)
    },

    rename(from, to, reply) {
      session.serve('rename', reply, async (request) => {
        const source = await paths.parentAndName(from, request)
        const target = await paths.parentAndName(to, request)
        const replaced = hidden.takeReplaced(to)
        try {
          await operations.rename(source.parent, source.name, target.parent, target.name, noFlags, request)
        } catch (error) {
          // libfuse hid the open target before it called us, and does not put it back.
          if (replaced !== undefined) await putBack(replaced, target, request)
          throw error
        }
        hidden.noteRename(from, to)
        names.drop(source.parent, source.name)
        names.drop(target.parent, target.name)
        return [0]
      })
    },

    link(_from, _to, reply) {
      refuse('link', reply)
    },

    symlink(_target, _path, reply) {
      refuse('symlink', reply)
    },
  }
}
