// Names of a version's blocks on disk, and their division into segments. Pure text and arithmetic.
//
//   <2 hex>/<24 hex of the path><16 hex of the fingerprint>.<segment number, or "w" for a whole document>

import { hash } from 'node:crypto'
import { blockCount, blockSizeBytes } from '../extent.ts'
import type { Version } from '../fingerprint.ts'
import type { SegmentShape } from './segment-table.ts'

/** Blocks per segment: 4 MiB, the unit of eviction. */
export const segmentBlocks = 32

/** Identifies one of a version's files: a numbered segment, or the whole document in one. */
export type SegmentId = number | 'whole'

/** A version as the disk cache knows it, with keys in place of its path and fingerprint. */
export interface StoredVersion {
  /** Key of the path, the same for all its versions. */
  readonly pathKey: string
  readonly key: string
  readonly sizeBytes: number
}

const pathKeyLength = 24
const fingerprintKeyLength = 16
const namePattern = /^[0-9a-f]{40}\.(?:w|[0-9]+)$/

export function storedVersion(version: Version, sizeBytes: number): StoredVersion {
  const pathKey = pathKeyOf(version.path)
  return { pathKey, key: pathKey + digest(version.fingerprint).slice(0, fingerprintKeyLength), sizeBytes }
}

export function pathKeyOf(path: string): string {
  return digest(path).slice(0, pathKeyLength)
}

/** Number of the segment that a block is in. */
export function segmentNumber(block: number): number {
  return Math.floor(block / segmentBlocks)
}

/** Name of a segment's file. */
export function segmentName(version: StoredVersion, segment: SegmentId): string {
  return `${version.key}.${segment === 'whole' ? 'w' : segment}`
}

export function segmentShape(version: StoredVersion, segment: SegmentId): SegmentShape {
  const { sizeBytes } = version
  if (segment === 'whole') return { firstBlock: 0, blocks: blockCount(sizeBytes), dataBytes: sizeBytes }
  const firstBlock = segment * segmentBlocks
  const blocks = Math.min(segmentBlocks, blockCount(sizeBytes) - firstBlock)
  const dataBytes = Math.min(blocks * blockSizeBytes, sizeBytes - firstBlock * blockSizeBytes)
  return { firstBlock, blocks, dataBytes }
}

/** The segment that a file's name stands for. */
export function segmentIdIn(name: string): SegmentId {
  const id = name.slice(name.lastIndexOf('.') + 1)
  return id === 'w' ? 'whole' : Number(id)
}

/** The path key in a file's name; undefined for a file that is not ours. */
export function pathKeyInName(name: string): string | undefined {
  return namePattern.test(name) ? name.slice(0, pathKeyLength) : undefined
}

/** Key of the version that a file's name stands for. */
export function versionKeyIn(name: string): string {
  return name.slice(0, pathKeyLength + fingerprintKeyLength)
}

/** Name of the same segment of another version. */
export function renamed(name: string, to: StoredVersion): string {
  return to.key + name.slice(pathKeyLength + fingerprintKeyLength)
}

/** Name of the subfolder that a segment's file is in. */
export function shardOf(name: string): string {
  return name.slice(0, 2)
}

function digest(text: string): string {
  return hash('sha256', text)
}
