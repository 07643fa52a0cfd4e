// How much of a document one download or upload holds in memory: whoever reads or sends slowly, or not at all, keeps it for
// minutes. Few get large pieces, which is fastest; many share what there is, and whoever comes meanwhile waits for small ones.

import type { ServerResponse } from 'node:http'
import { whenClosed } from './when-closed.ts'

export const largestPieceBytes: number = 1024 * 1024
const smallestBytes = 64 * 1024

export interface Bounds {
  readonly togetherBytes: number
  readonly largestBytes: number
}

export const uploadPieces: Bounds = { togetherBytes: 256 * 1024 * 1024, largestBytes: largestPieceBytes }
/** A download holds four: one that is read from the disk, one that is hashed, one that waits for the hash, one that is sent. */
export const downloadPieces: Bounds = { togetherBytes: 16 * 1024 * 1024, largestBytes: 256 * 1024 }

/** Of each of so many. */
export function pieceBytesOf(underWay: number, { togetherBytes, largestBytes }: Bounds): number {
  return Math.max(smallestBytes, Math.min(largestBytes, Math.floor(togetherBytes / underWay)))
}

export class Pieces {
  readonly #bounds: Bounds
  #underWay = 0

  constructor(bounds: Bounds) {
    this.#bounds = bounds
  }

  /** For one more, until its answer is closed. */
  take(answer: ServerResponse): number {
    this.#underWay++
    whenClosed(answer, () => this.#underWay--)
    return pieceBytesOf(this.#underWay, this.#bounds)
  }
}
