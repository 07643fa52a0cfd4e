// MKNOD, MKDIR, UNLINK, RMDIR, RENAME, RENAME2: making, moving and removing names.

import type { MaybePromise, Operations } from '../../../fs/operations.ts'
import { fileType, renameFlag } from '../protocol-flags.ts'
import { mkdirIn, mknodIn, rename2In, renameIn } from '../protocol-structs.ts'
import { Refusal } from '../../refusal.ts'
import type { Request } from '../request.ts'
import { answerEntry } from './nodes.ts'
import { answerEmpty, operation, type Operation } from './operation.ts'

export const mkdir: Operation = operation({
  call(operations, request) {
    const mode = request.u32(mkdirIn.mode) & 0o7777
    return operations.mkdir(request.nodeid, request.newName(mkdirIn.sizeOf), mode, request)
  },
  answer: answerEntry,
  undo: (operations, entry) => operations.forget(entry.attributes.ino, 1),
})

/** mknod(2) of a regular file: a create and a close. Devices, sockets and pipes are refused. */
export const mknod: Operation = operation({
  async call(operations, request) {
    const mode = request.u32(mknodIn.mode)
    const type = mode & fileType.mask
    if (type !== fileType.regular && type !== 0) throw new Refusal('EPERM', 'mknod of no regular file')
    const flags = { read: false, write: true, truncate: false }
    const options = { mode: mode & 0o7777, flags, exclusive: true }
    const name = request.newName(mknodIn.sizeOf)
    const { entry, opened } = await operations.create(request.nodeid, name, options, request)
    await operations.release(opened.fh)
    return entry
  },
  answer: answerEntry,
  undo: (operations, entry) => operations.forget(entry.attributes.ino, 1),
})

export const unlink: Operation = operation({
  call: (operations, request) => operations.unlink(request.nodeid, request.knownName(0), request),
  answer: answerEmpty,
})

export const rmdir: Operation = operation({
  call: (operations, request) => operations.rmdir(request.nodeid, request.knownName(0), request),
  answer: answerEmpty,
})

function callRename(
  operations: Operations,
  request: Request,
  fixed: { newParent: number; sizeOf: number; flags: number },
): MaybePromise<void> {
  const name = request.knownName(fixed.sizeOf)
  const newName = request.newName(request.nameAfter(fixed.sizeOf))
  const noReplace = (fixed.flags & renameFlag.noReplace) !== 0
  const exchange = (fixed.flags & renameFlag.exchange) !== 0
  return operations.rename(request.nodeid, name, fixed.newParent, newName, { noReplace, exchange }, request)
}

export const rename: Operation = operation({
  call: (operations, request) =>
    callRename(operations, request, {
      newParent: request.u64(renameIn.newdir),
      sizeOf: renameIn.sizeOf,
      flags: 0,
    }),
  answer: answerEmpty,
})

export const rename2: Operation = operation({
  call(operations, request) {
    const flags = request.u32(rename2In.flags)
    if ((flags & ~(renameFlag.noReplace | renameFlag.exchange)) !== 0) {
      throw new Refusal('EINVAL', `rename flags ${flags}`)
    }
    const newParent = request.u64(rename2In.newdir)
    return callRename(operations, request, { newParent, sizeOf: rename2In.sizeOf, flags })
  },
  answer: answerEmpty,
})
