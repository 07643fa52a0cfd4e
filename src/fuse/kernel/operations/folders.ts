// OPENDIR, READDIR, READDIRPLUS, RELEASEDIR, FSYNCDIR: listings. `.` and `..` are added here, with cookies 1 and 2.

import type { MaybePromise, Operations } from '../../../fs/operations.ts'
import { writeOpenOut } from '../encode.ts'
import { openFlag } from '../protocol-flags.ts'
import { openOut, readIn, releaseIn } from '../protocol-structs.ts'
import type { Reply } from '../reply.ts'
import type { Request } from '../request.ts'
import { Listing } from './listing.ts'
import { readOnly, answerEmpty, operation, type Operation } from './operation.ts'

export const opendir: Operation = operation({
  isReadOnly: readOnly,
  call: (operations, request) => operations.opendir(request.nodeid, request),
  answer(reply, { fh, keepListing }) {
    writeOpenOut(reply.body, 0, fh, openFlag.cacheDir | (keepListing ? openFlag.keepCache : 0))
    return reply.struct(openOut.sizeOf)
  },
  undo: (operations, opened) => operations.releasedir(opened.fh),
})

export const releasedir: Operation = operation({
  call: (operations, request) => operations.releasedir(request.u64(releaseIn.fh)),
  answer: answerEmpty,
})

export const fsyncdir: Operation = operation({
  call: (operations, request) => operations.fsyncdir(request.nodeid, request),
  answer: answerEmpty,
})

export const readdir: Operation = operation({
  isReadOnly: readOnly,
  call: (operations, request) => fill(operations, request, false),
  answer: answerListing,
})

export const readdirplus: Operation = operation({
  isReadOnly: readOnly,
  call: (operations, request) => fill(operations, request, true),
  answer: answerListing,
  undo: forgetAll,
})

function answerListing(reply: Reply, listing: Listing): boolean {
  const isTaken = reply.message(listing.bytes, listing.length)
  listing.recycle()
  return isTaken
}

/** Cookies of `.` and `..`; those of the filesystem are shifted by two. A cookie is the offset of the next READDIR. */
const dot = 1
const dotDot = 2

/** Builds one answer. When the filesystem fails, the node references taken for it are given back. */
function fill(operations: Operations, request: Request, withAttributes: boolean): MaybePromise<Listing> {
  const fh = request.u64(readIn.fh)
  const offset = request.u64(readIn.offset)
  const listing = new Listing(request.u32(readIn.size), withAttributes, (ino) => operations.remember(ino))
  if (offset < dot && !listing.addOwn('.', request.nodeid, dot)) return listing
  // Programs only see this number: the kernel resolves `..` itself. So it may be the folder's own.
  if (offset < dotDot && !listing.addOwn('..', request.nodeid, dotDot)) return listing
  const giveBack = (error: unknown): never => {
    forgetAll(operations, listing)
    throw error
  }
  try {
    const filled = operations.readdir(
      fh,
      Math.max(0, offset - dotDot),
      (child, cookie) => listing.add(child, cookie + dotDot),
      request,
    )
    return filled instanceof Promise ? filled.then(() => listing, giveBack) : listing
  } catch (error) {
    return giveBack(error)
  }
}

function forgetAll(operations: Operations, listing: Listing): void {
  for (const ino of listing.remembered) operations.forget(ino, 1)
}
