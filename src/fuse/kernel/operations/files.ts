// OPEN, CREATE, READ, WRITE, FLUSH, FSYNC, RELEASE, FALLOCATE, COPY_FILE_RANGE: open files.

import type { OpenFlags, Operations } from '../../../fs/operations.ts'
import { openFlagsOf, writeEntryOut, writeOpenOut } from '../encode.ts'
import { set64, setU32 } from '../fields.ts'
import { fallocateMode, openMode } from '../protocol-flags.ts'
import {
  copyFileRangeIn,
  copyFileRangeOut,
  createIn,
  entryOut,
  fallocateIn,
  flushIn,
  fsyncIn,
  openIn,
  openOut,
  readIn,
  releaseIn,
  writeIn,
  writeOut,
} from '../protocol-structs.ts'
import { Refusal } from '../../refusal.ts'
import type { Reply } from '../reply.ts'
import type { Request } from '../request.ts'
import { exactSize } from './nodes.ts'
import { readOnly, answerEmpty, operation, type Operation } from './operation.ts'

function openFlagsFrom(flags: number): OpenFlags {
  const access = flags & openMode.accessMode
  return {
    read: access !== openMode.writeOnly,
    write: access === openMode.writeOnly || access === openMode.readWrite,
    truncate: (flags & openMode.truncate) !== 0,
  }
}

export const open: Operation = operation({
  isReadOnly: (request) => (request.u32(openIn.flags) & openMode.truncate) === 0,
  call(operations, request) {
    return operations.open(request.nodeid, openFlagsFrom(request.u32(openIn.flags)), request)
  },
  answer(reply, opened) {
    writeOpenOut(reply.body, 0, opened.fh, openFlagsOf(opened))
    return reply.struct(openOut.sizeOf)
  },
  undo: (operations, opened) => operations.release(opened.fh),
})

export const create: Operation = operation({
  call(operations, request) {
    const flags = request.u32(createIn.flags)
    const options = {
      mode: request.u32(createIn.mode) & 0o7777,
      flags: openFlagsFrom(flags),
      exclusive: (flags & openMode.exclusive) !== 0,
    }
    return operations.create(request.nodeid, request.newName(createIn.sizeOf), options, request)
  },
  answer(reply, { entry, opened }) {
    writeEntryOut(reply.body, 0, entry)
    writeOpenOut(reply.body, entryOut.sizeOf, opened.fh, openFlagsOf(opened))
    return reply.struct(entryOut.sizeOf + openOut.sizeOf)
  },
  async undo(operations, { entry, opened }) {
    operations.forget(entry.attributes.ino, 1)
    await operations.release(opened.fh)
  },
})

export const read: Operation = operation({
  isReadOnly: readOnly,
  call: (operations, request) =>
    operations.read(request.u64(readIn.fh), request.u64(readIn.offset), request.u32(readIn.size), request),
  answer: (reply, chunks) => reply.chunks(chunks),
})

export const write: Operation = operation({
  keepsBuffer: true,
  call(operations, request) {
    const offset = request.u64(writeIn.offset)
    const length = request.u32(writeIn.size)
    exactSize(offset + length)
    const data = request.data(writeIn.sizeOf, length)
    // The handle's flags at this moment (fcntl can change them); 0 for pages of a mapping.
    const isAppended = (request.u32(writeIn.flags) & openMode.append) !== 0
    return operations.write(request.u64(writeIn.fh), isAppended ? 'end' : offset, data, request)
  },
  answer: answerWritten,
})

function answerWritten(reply: Reply, bytes: number): boolean {
  setU32(reply.body, writeOut.size, bytes)
  setU32(reply.body, writeOut.size + 4, 0)
  return reply.struct(writeOut.sizeOf)
}

export const flush: Operation = operation({
  call: (operations, request) => operations.flush(request.u64(flushIn.fh), request),
  answer: answerEmpty,
})

export const fsync: Operation = operation({
  call: (operations, request) => operations.fsync(request.u64(fsyncIn.fh), request),
  answer: answerEmpty,
})

export const release: Operation = operation({
  call: (operations, request) => operations.release(request.u64(releaseIn.fh)),
  answer: answerEmpty,
})

export const fallocate: Operation = operation({
  call(operations, request) {
    const mode = request.u32(fallocateIn.mode)
    // Punching holes, for example. EOPNOTSUPP refuses this call alone; ENOSYS would end fallocate for the whole mount.
    if ((mode & ~fallocateMode.keepSize) !== 0) throw new Refusal('EOPNOTSUPP', `fallocate mode ${mode}`)
    const offset = request.u64(fallocateIn.offset)
    const length = request.u64(fallocateIn.length)
    exactSize(offset + length)
    const keepSize = (mode & fallocateMode.keepSize) !== 0
    return operations.fallocate(request.u64(fallocateIn.fh), offset, length, keepSize, request)
  },
  answer: answerEmpty,
})

/** If the filesystem throws EOPNOTSUPP, the kernel copies by READ and WRITE this time; after ENOSYS it would always. */
function callCopy(operations: Operations, request: Request): number | Promise<number> {
  return operations.copyFileRange(
    request.u64(copyFileRangeIn.fhIn),
    request.u64(copyFileRangeIn.offIn),
    request.u64(copyFileRangeIn.fhOut),
    request.u64(copyFileRangeIn.offOut),
    request.u64(copyFileRangeIn.len),
    request,
  )
}

export const copyFileRange: Operation = operation({ call: callCopy, answer: answerWritten })

/** The newer opcode, whose answer has a 64-bit count. */
export const copyFileRange64: Operation = operation({
  call: callCopy,
  answer(reply, bytes) {
    set64(reply.body, copyFileRangeOut.bytesCopied, bytes)
    return reply.struct(copyFileRangeOut.sizeOf)
  },
})
