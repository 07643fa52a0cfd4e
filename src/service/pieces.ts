// How much of a document one download or upload holds in memory: whoever reads or sends slowly, or not at all, keeps it for
// minutes. Few get large pieces, which is fastest; many share what there is.

import type { ServerResponse } from 'node:http'
import { whenClosed } from './when-closed.ts'

const togetherBytes = 256 * 1024 * 1024
export const largestPieceBytes: number = 1024 * 1024
const smallestBytes = 64 * 1024

/** Of each of so many. */
export function pieceBytesOf(underWay: number): number {
  return Math.max(smallestBytes, Math.min(largestPieceBytes, Math.floor(togetherBytes / underWay)))
}

export class Pieces {
  #underWay = 0

  /** For one more, until its answer is closed. */
  take(answer: ServerResponse): number {
    this.#underWay++
    whenClosed(answer, () => this.#underWay--)
    return pieceBytesOf(this.#underWay)
  }
}
