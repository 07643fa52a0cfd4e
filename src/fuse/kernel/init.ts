// INIT: which protocol is spoken and which of its features are used.

import { setU16, setU32 } from './fields.ts'
import { maxWriteBytes } from './channel.ts'
import { initFlag } from './protocol-flags.ts'
import { initIn, initOut } from './protocol-structs.ts'
import type { Request } from './request.ts'

const major = 7
/** The newest minor this driver was written against. */
const newestMinor = 45
/** Linux 5.4: older kernels lack what is relied on here (COPY_FILE_RANGE, MAX_PAGES, their answer sizes). */
const oldestMinor = 31

const pageBytes = 4096

/** Only read-ahead and RELEASE are limited by it. */
const maxBackground = 64
const congestionThreshold = 48

/**
 * Used where offered. Left out on purpose: writeback cache (hides what the service changed), locks (the kernel's own
 * suffice), zero-message open (each open must reach us), kill-priv (the kernel clears suid by itself),
 * asynchronous direct I/O (its callers wait uninterruptibly, deaf to Ctrl-C).
 */
const wanted =
  initFlag.asyncRead |
  initFlag.atomicOTrunc |
  initFlag.exportSupport |
  initFlag.bigWrites |
  initFlag.autoInvalData |
  initFlag.doReaddirplus |
  initFlag.readdirplusAuto |
  initFlag.parallelDirops |
  initFlag.maxPages |
  initFlag.cacheSymlinks

/**
 * - `agreed`: the mount works from here on.
 * - `again`: the kernel speaks a newer major; it asks once more in ours.
 * - `too-old`: the kernel is not spoken to.
 */
export type InitOutcome = 'agreed' | 'again' | 'too-old'

/** Writes the answer to INIT into `body`, unless the kernel is too old. */
export function answerInit(request: Request, body: DataView): InitOutcome {
  const kernelMajor = request.u32(initIn.major)
  const kernelMinor = request.u32(initIn.minor)
  if (kernelMajor < major || (kernelMajor === major && kernelMinor < oldestMinor)) return 'too-old'
  for (let at = 0; at < initOut.sizeOf; at++) body.setUint8(at, 0)
  setU32(body, initOut.major, major)
  if (kernelMajor > major) {
    setU32(body, initOut.minor, newestMinor)
    return 'again'
  }
  setU32(body, initOut.minor, Math.min(kernelMinor, newestMinor))
  setU32(body, initOut.maxReadahead, request.u32(initIn.maxReadahead))
  setU32(body, initOut.flags, (request.u32(initIn.flags) & wanted) >>> 0)
  setU16(body, initOut.maxBackground, maxBackground)
  setU16(body, initOut.congestionThreshold, congestionThreshold)
  setU32(body, initOut.maxWrite, maxWriteBytes)
  setU32(body, initOut.timeGran, 1)
  setU16(body, initOut.maxPages, maxWriteBytes / pageBytes)
  return 'agreed'
}
