// Size of the pieces in which one download or upload passes through memory: a slow client occupies its pieces for minutes. Few
// transfers get large pieces, which is fastest; many share a fixed amount of memory, in pieces of 64 KiB at least.

import type { ServerResponse } from 'node:http'
import { whenClosed } from './when-closed.ts'

export const largestPieceBytes: number = 1024 * 1024
const smallestBytes = 64 * 1024

/** `togetherBytes`: shared by all transfers of one direction. `largestBytes`: of one piece. */
export interface Bounds {
  readonly togetherBytes: number
  readonly largestBytes: number
}

export const uploadPieces: Bounds = { togetherBytes: 256 * 1024 * 1024, largestBytes: largestPieceBytes }
/** A download has four pieces in memory: read from the disk, being hashed, waiting for the hash, being sent. */
export const downloadPieces: Bounds = { togetherBytes: 16 * 1024 * 1024, largestBytes: 256 * 1024 }

/** Bytes of a piece when `underWay` transfers share the memory. */
export function pieceBytesOf(underWay: number, { togetherBytes, largestBytes }: Bounds): number {
  return Math.max(smallestBytes, Math.min(largestBytes, Math.floor(togetherBytes / underWay)))
}

export class Pieces {
  readonly #bounds: Bounds
  #underWay = 0

  constructor(bounds: Bounds) {
    this.#bounds = bounds
  }

  /** Counts one more transfer until its response is closed. Returns the bytes of its pieces. */
  take(answer: ServerResponse): number {
    this.#underWay++
    whenClosed(answer, () => this.#underWay--)
    return pieceBytesOf(this.#underWay, this.#bounds)
  }
}
