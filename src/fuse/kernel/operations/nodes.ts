// LOOKUP, GETATTR, SETATTR, STATFS, LISTXATTR: finding a node, and its attributes.

import { constants } from 'node:os'
import type { AttributeChange, Entry, NegativeEntry, Time } from '../../../fs/operations.ts'
import { setU32 } from '../fields.ts'
import { writeAttrOut, writeEntryOut, writeNegativeEntryOut, writeStatistics } from '../encode.ts'
import { getattrFlag, setattrValid } from '../protocol-flags.ts'
import {
  attrOut,
  entryOut,
  getattrIn,
  getxattrIn,
  getxattrOut,
  kstatfs,
  setattrIn,
} from '../protocol-structs.ts'
import { Refusal } from '../../refusal.ts'
import type { Reply } from '../reply.ts'
import type { Request } from '../request.ts'
import { readOnly, operation, type Operation } from './operation.ts'

/** Sends the answer for a node, on which the kernel then holds one more reference. */
export function answerEntry(reply: Reply, entry: Entry): boolean {
  writeEntryOut(reply.body, 0, entry)
  return reply.struct(entryOut.sizeOf)
}

function isFound(entry: Entry | NegativeEntry): entry is Entry {
  return entry.attributes !== undefined
}

export const lookup: Operation = operation({
  isReadOnly: readOnly,
  call(operations, request) {
    const name = request.knownName(0)
    const found = operations.lookup(request.nodeid, name, request)
    const recorded = (entry: Entry | NegativeEntry): Entry | NegativeEntry => {
      request.foundByName(name, entry.attributes?.ino)
      return entry
    }
    return found instanceof Promise ? found.then(recorded) : recorded(found)
  },
  answer(reply, entry) {
    if (isFound(entry)) return answerEntry(reply, entry)
    if (entry.entryTtlMs <= 0) return reply.error(constants.errno.ENOENT)
    writeNegativeEntryOut(reply.body, 0, entry.entryTtlMs)
    return reply.struct(entryOut.sizeOf)
  },
  undo(operations, entry) {
    if (isFound(entry)) operations.forget(entry.attributes.ino, 1)
  },
})

function answerAttributes(reply: Reply, entry: Entry): boolean {
  writeAttrOut(reply.body, 0, entry)
  return reply.struct(attrOut.sizeOf)
}

export const getattr: Operation = operation({
  isReadOnly: readOnly,
  call(operations, request) {
    const hasFh = (request.u32(getattrIn.getattrFlags) & getattrFlag.fh) !== 0
    return operations.getattr(request.nodeid, hasFh ? request.u64(getattrIn.fh) : undefined, request)
  },
  answer: answerAttributes,
})

export const setattr: Operation = operation({
  call(operations, request) {
    const hasFh = (request.u32(setattrIn.valid) & setattrValid.fh) !== 0
    const fh = hasFh ? request.u64(setattrIn.fh) : undefined
    return operations.setattr(request.nodeid, changeOf(request), fh, request)
  },
  answer: answerAttributes,
})

function changeOf(request: Request): AttributeChange {
  const valid = request.u32(setattrIn.valid)
  const change: { -readonly [K in keyof AttributeChange]: AttributeChange[K] } = {}
  if ((valid & setattrValid.mode) !== 0) change.mode = request.u32(setattrIn.mode) & 0o7777
  if ((valid & setattrValid.uid) !== 0) change.uid = request.u32(setattrIn.uid)
  if ((valid & setattrValid.gid) !== 0) change.gid = request.u32(setattrIn.gid)
  if ((valid & setattrValid.size) !== 0) change.size = exactSize(request.u64(setattrIn.size))
  if ((valid & setattrValid.atime) !== 0) {
    const isNow = (valid & setattrValid.atimeNow) !== 0
    change.atime = isNow ? 'now' : timeOf(request, setattrIn.atime, setattrIn.atimensec)
  }
  if ((valid & setattrValid.mtime) !== 0) {
    const isNow = (valid & setattrValid.mtimeNow) !== 0
    change.mtime = isNow ? 'now' : timeOf(request, setattrIn.mtime, setattrIn.mtimensec)
  }
  return change
}

function timeOf(request: Request, secondsField: number, nanosecondsField: number): Time {
  return { sec: request.i64(secondsField), nsec: request.u32(nanosecondsField) }
}

/** Returns `size`. Throws EFBIG beyond 2^53, where JavaScript numbers are not exact. */
export function exactSize(size: number): number {
  if (size > Number.MAX_SAFE_INTEGER) throw new Refusal('EFBIG', 'a size beyond 2^53')
  return size
}

export const statfs: Operation = operation({
  call: (operations) => operations.statfs(),
  answer(reply, statistics) {
    writeStatistics(reply.body, 0, statistics)
    return reply.struct(kstatfs.sizeOf)
  },
})

/** Answers an empty list. Samba asks for it before it renames or deletes, and fails on an errno. */
export const listxattr: Operation = operation({
  isReadOnly: readOnly,
  call: (_operations, request) => request.u32(getxattrIn.size),
  answer(reply, bufferSize) {
    if (bufferSize > 0) return reply.empty()
    setU32(reply.body, getxattrOut.size, 0)
    return reply.struct(getxattrOut.sizeOf)
  },
})
