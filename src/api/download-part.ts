// Location of the requested bytes in a response's body. A server may send the range, send the whole file, or refuse the range.

import { drain, readError } from './answer-body.ts'
import { parseContentRange } from './content-range.ts'
import { NetworkError } from './errors.ts'
import type { CallDescription } from './errors.ts'
import type { Answer } from '../world/transport.ts'
import type { Range } from './types.ts'

/** The requested part of a response's body. */
export interface Part {
  /** Bytes of the body before the range, to be skipped. */
  readonly skip: number
  /** Bytes to pass on after those. */
  readonly length: number
  /** True: a body with fewer bytes than `length` is a broken connection. False: it is the end of the file. */
  readonly isLengthPromised: boolean
  readonly totalSize: number | undefined
  /** Set if no header gives the size: a body of any other length is not the document. */
  readonly wantedSize?: number | undefined
}

/**
 * Returns where the range is in a 206, 200 or 416. Throws ApiError for other statuses, NetworkError "protocol" for a response
 * with other bytes than those requested.
 */
export async function partOf(
  call: CallDescription,
  answer: Answer,
  range: Range,
  secrets: readonly string[],
  /** Epoch ms. */
  now: number,
): Promise<Part> {
  if (answer.status === 206) return partOf206(call, answer, range)
  if (answer.status === 200) return partOf200(answer, range)
  if (answer.status === 416) return await partOf416(call, answer, range)
  throw await readError(call, answer, secrets, now)
}

/** True if Content-Range does not give the size of the whole file (`bytes 0-99/*`). */
export function isOfUnknownWhole(answer: Answer): boolean {
  const got = parseContentRange(answer.header('content-range'))
  return got !== undefined && got.totalSize === undefined
}

function partOf206(call: CallDescription, answer: Answer, range: Range): Part {
  const header = answer.header('content-range')
  const got = parseContentRange(header)
  const end = range.offset + range.length
  const isWhole =
    got?.totalSize !== undefined && got.start === range.offset && got.end === Math.min(end, got.totalSize)
  if (!isWhole) {
    answer.discard()
    const detail = `asked for bytes ${range.offset}-${end - 1}, got Content-Range ${header ?? '(none)'}`
    throw new NetworkError(call, 'protocol', detail)
  }
  return { skip: 0, length: got.end - got.start, isLengthPromised: true, totalSize: got.totalSize }
}

/** For a server that does not support ranges and sends the whole file. */
function partOf200(answer: Answer, range: Range): Part {
  const header = answer.header('content-length')
  const totalSize = header === undefined ? undefined : Number(header)
  const size = totalSize ?? range.sizeBytes ?? Infinity
  return {
    skip: range.offset,
    length: Math.max(0, Math.min(range.length, size - range.offset)),
    isLengthPromised: totalSize !== undefined,
    totalSize,
    wantedSize: totalSize === undefined ? range.sizeBytes : undefined,
  }
}

/** The range begins at or beyond the end of the file. */
async function partOf416(call: CallDescription, answer: Answer, range: Range): Promise<Part> {
  const totalSize = parseContentRange(answer.header('content-range'))?.totalSize
  await drain(answer)
  if (totalSize !== undefined && range.offset < totalSize) {
    throw new NetworkError(
      call,
      'protocol',
      `the range at ${range.offset} of ${totalSize} bytes was refused (416)`,
    )
  }
  return { skip: 0, length: 0, isLengthPromised: false, totalSize }
}
