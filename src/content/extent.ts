// Byte ranges and block numbers: pure arithmetic, no bytes and no I/O.

import { pieceBytes } from '../world/block-memory.ts'

/** Bytes of one block: as many as the kernel asks for in one READ. */
export const blockSizeBytes: number = pieceBytes

/** `length` bytes from `offset`. */
export interface Extent {
  readonly offset: number
  readonly length: number
}

/** Consecutive blocks from `first` up to, not including, `end`. */
export interface BlockRun {
  readonly first: number
  readonly end: number
}

/** The part of an extent that lies inside a document of `sizeBytes`. */
export function clip(extent: Extent, sizeBytes: number): Extent {
  const offset = Math.min(extent.offset, sizeBytes)
  return { offset, length: Math.max(0, Math.min(extent.length, sizeBytes - offset)) }
}

/** The blocks an extent touches; an empty extent touches none. */
export function blocksOf(extent: Extent): BlockRun {
  const first = Math.floor(extent.offset / blockSizeBytes)
  if (extent.length === 0) return { first, end: first }
  return { first, end: Math.floor((extent.offset + extent.length - 1) / blockSizeBytes) + 1 }
}

/** The bytes of a run of blocks in a document of `sizeBytes`. */
export function extentOf(run: BlockRun, sizeBytes: number): Extent {
  const offset = run.first * blockSizeBytes
  return clip({ offset, length: (run.end - run.first) * blockSizeBytes }, sizeBytes)
}

/** How many blocks a document of `sizeBytes` has. */
export function blockCount(sizeBytes: number): number {
  return Math.ceil(sizeBytes / blockSizeBytes)
}

/** Bytes in one block; the last one may be shorter. */
export function blockLength(block: number, sizeBytes: number): number {
  return Math.max(0, Math.min(blockSizeBytes, sizeBytes - block * blockSizeBytes))
}

/** A run cut into as few runs of at most `maxBlocks` as possible, of equal length but for rounding. */
export function splitRun(run: BlockRun, maxBlocks: number): BlockRun[] {
  const blocks = run.end - run.first
  const count = Math.ceil(blocks / maxBlocks)
  const cut = (part: number): number => run.first + Math.round((blocks * part) / count)
  return Array.from({ length: count }, (_, part) => ({ first: cut(part), end: cut(part + 1) }))
}

/** The longest runs inside `run` of which no block is covered. */
export function gapsOf(run: BlockRun, isCovered: (block: number) => boolean): BlockRun[] {
  const gaps: BlockRun[] = []
  let first: number | undefined
  for (let block = run.first; block < run.end; block++) {
    if (!isCovered(block)) {
      first ??= block
    } else if (first !== undefined) {
      gaps.push({ first, end: block })
      first = undefined
    }
  }
  if (first !== undefined) gaps.push({ first, end: run.end })
  return gaps
}
