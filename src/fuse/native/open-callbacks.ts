// The callbacks that open files and use open ones. Handles come from `Operations`, 1 … 2^31−1; only opening uses the path.

import { constants } from 'node:fs'

import { errnoOf } from '../../fs/errno-of.ts'
import type { OpenFlags } from '../../fs/operations.ts'
import { Refusal } from '../refusal.ts'
import type { NativeSession, Reply } from './session.ts'
import { nativeStat, type NativeStat } from './stat.ts'

export interface OpenCallbacks {
  open(path: string, flags: number, reply: Reply<[number]>): void
  create(path: string, mode: number, reply: Reply<[number]>): void
  /** The reply is the number of bytes, or a negative errno. */
  read(path: string, fh: number, buffer: Buffer, length: number, offset: number, reply: Reply): void
  /** As `read`. The buffer belongs to libfuse, and may not be used after the reply. */
  write(path: string, fh: number, buffer: Buffer, length: number, offset: number, reply: Reply): void
  flush(path: string, fh: number, reply: Reply): void
  fsync(path: string, dataOnly: number, fh: number, reply: Reply): void
  release(path: string, fh: number, reply: Reply): void
  fgetattr(path: string, fh: number, reply: Reply<[NativeStat]>): void
  ftruncate(path: string, fh: number, size: number, reply: Reply): void
}

/** The binding passes no flags to create: the file is new, so it is opened for reading and writing. */
const newFile: OpenFlags = { read: true, write: true, truncate: false }

export function openCallbacks(session: NativeSession): OpenCallbacks {
  const { operations, names, paths, hidden, kernelSizes } = session

  function nodeOf(fh: number): number {
    const ino = session.nodesByHandle.get(fh)
    if (ino === undefined) throw new Refusal('EBADF', `no open file ${fh}`)
    return ino
  }

  return {
    open(path, flags, reply) {
      session.serve('open', reply, async (request) => {
        const ino = await paths.node(path, request)
        const wanted = openFlags(flags)
        const fh = session.addHandle(ino, await operations.open(ino, wanted, request))
        if (wanted.truncate) {
          kernelSizes.forget(ino)
        } else if (wanted.read) {
          const { attributes } = await operations.getattr(ino, fh, request)
          await kernelSizes.catchUp(ino, attributes.size)
        }
        return [0, fh]
      })
    },

    create(path, mode, reply) {
      hidden.noteUse(path)
      session.serve('create', reply, async (request) => {
        const target = await paths.parentAndName(path, request)
        const changesBefore = names.changes
        const options = { mode: mode & 0o7777, flags: newFile, exclusive: true, isGuess: true }
        try {
          const { entry, opened } = await operations.create(target.parent, target.name, options, request)
          const { ino } = entry.attributes
          const fh = session.addHandle(ino, opened)
          paths.cache(target, entry, changesBefore)
          return [0, fh]
        } catch (error) {
          // The binding does not pass O_EXCL. ESTALE makes the kernel look the name up again and decide by the caller's
          // flags: EEXIST with O_EXCL, otherwise the file is opened.
          if (errnoOf(error) === 'EEXIST') throw new Refusal('ESTALE', target.name)
          throw error
        }
      })
    },

    read(_path, fh, buffer, length, offset, reply) {
      session.serve('read', reply, async (request) => {
        let filled = 0
        for (const chunk of await operations.read(fh, offset, length, request)) {
          const part = chunk.subarray(0, length - filled)
          buffer.set(part, filled)
          filled += part.length
        }
        return [filled]
      })
    },

    write(_path, fh, buffer, length, offset, reply) {
      session.serve('write', reply, async (request) => {
        const written = await operations.write(fh, offset, buffer.subarray(0, length), request)
        kernelSizes.forget(nodeOf(fh))
        return [written]
      })
    },

    flush(_path, fh, reply) {
      session.serve('flush', reply, async (request) => {
        await operations.flush(fh, request)
        return [0]
      })
    },

    fsync(_path, _dataOnly, fh, reply) {
      session.serve('fsync', reply, async (request) => {
        await operations.fsync(fh, request)
        return [0]
      })
    },

    release(_path, fh, reply) {
      session.serve('release', reply, async () => {
        await session.release(fh)
        return [0]
      })
    },

    fgetattr(_path, fh, reply) {
      session.serve('fgetattr', reply, async (request) => {
        const ino = nodeOf(fh)
        const { attributes } = await operations.getattr(ino, fh, request)
        kernelSizes.set(ino, attributes.size)
        return [0, nativeStat(attributes)]
      })
    },

    ftruncate(_path, fh, size, reply) {
      session.serve('ftruncate', reply, async (request) => {
        const ino = nodeOf(fh)
        await operations.setattr(ino, { size }, fh, request)
        kernelSizes.forget(ino)
        return [0]
      })
    },
  }
}

function openFlags(flags: number): OpenFlags {
  const access = flags & (constants.O_RDONLY | constants.O_WRONLY | constants.O_RDWR)
  return {
    read: access !== constants.O_WRONLY,
    write: access !== constants.O_RDONLY,
    truncate: (flags & constants.O_TRUNC) !== 0,
  }
}
