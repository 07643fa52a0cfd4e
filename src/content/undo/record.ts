// A version that a program here replaced or deleted, as a line of a pack: a checksum and JSON, behind it the bytes of a small one.

import { crc32 } from 'node:zlib'

export type Ending = 'replaced' | 'deleted'

/** A version of a document that is about to go. */
export interface Going {
  readonly path: string
  readonly how: Ending
  /** As in `Version`: its size, and when it was stored. */
  readonly fingerprint: string
}

/** Reason why the bytes are not kept. */
export type Missing = 'not here' | 'no room' | 'too large'

export interface UndoRecord extends Going {
  /** When it went (epoch ms). */
  readonly at: number
  /** Bytes of the content. */
  readonly size: number | undefined
  /** Absent where the bytes are kept. */
  readonly missing?: Missing
  /** Name of the file with the bytes; absent where they follow the line. */
  readonly file?: string
  /** Checksum of the bytes. */
  readonly crc?: number
}

/** Somebody brought a version back. */
export interface RestoredMark {
  /** Id of the version. */
  readonly restored: string
}

export type Line = UndoRecord | RestoredMark

/** A path has at most 4 KiB, and JSON takes at most six characters for one of its bytes. */
export const longestLineBytes: number = 32 * 1024
const checksumLength = 8

export function encoded(line: Line): Buffer {
  const json = JSON.stringify(line)
  return Buffer.from(`${checksumOf(json)} ${json}\n`)
}

/** Undefined for a line that a power cut tore. */
export function decoded(bytes: Uint8Array): Line | undefined {
  const text = Buffer.from(bytes).toString()
  const json = text.slice(checksumLength + 1)
  return text.slice(0, checksumLength) === checksumOf(json) ? (JSON.parse(json) as Line) : undefined
}

/** Bytes that follow the line. */
export function bytesBehind(line: Line): number {
  return 'restored' in line || line.missing !== undefined || line.file !== undefined ? 0 : (line.size ?? 0)
}

function checksumOf(json: string): string {
  return crc32(json).toString(16).padStart(checksumLength, '0')
}
