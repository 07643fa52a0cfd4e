// INIT: the negotiation of the protocol's version and features.

import { setU16, setU32 } from './fields.ts'
import { maxWriteBytes } from './channel.ts'
import { initFlag } from './protocol-flags.ts'
import { initIn, initOut } from './protocol-structs.ts'
import type { Request } from './request.ts'

const major = 7
/** The newest minor this driver was written against. */
const newestMinor = 45
/** Linux 5.4: older kernels lack COPY_FILE_RANGE and MAX_PAGES, and have other answer sizes. */
const oldestMinor = 31

const pageBytes = 4096

/** Most background requests at once; only read-ahead and RELEASE are such. */
const maxBackground = 64
const congestionThreshold = 48

/**
 * Features used where the kernel offers them. Left out on purpose: writeback cache (hides changes of the service), locks (the
 * kernel's own suffice), no-open support (each open must reach us), kill-priv (the kernel clears suid itself),
 * asynchronous direct I/O (its callers cannot be interrupted).
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
 * - `agreed`: the mount is ready.
 * - `again`: the kernel has a newer major version, and sends INIT again with ours.
 * - `too-old`: the kernel is too old; the mount fails.
 */
export type InitOutcome = 'agreed' | 'again' | 'too-old'

/** Writes the answer to INIT into `body`, except for `too-old`. */
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
