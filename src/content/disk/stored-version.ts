// How a version's blocks are named on disk and cut into segments. Pure text and arithmetic.
//
//   <2 hex>/<24 hex of the path><16 hex of the fingerprint>.<segment number, or "w" for a whole document>

import { hash } from 'node:crypto'
import { blockCount, blockSizeBytes } from '../extent.ts'
import type { Version } from '../fingerprint.ts'
import type { SegmentShape } from './segment-table.ts'

/** Blocks per segment: 4 MiB, the unit of eviction. */
export const segmentBlocks = 32

/** One of a version's files: a numbered part, or the whole document. */
export type SegmentId = number | 'whole'

/** A version as the disk cache knows it. */
export interface StoredVersion {
  /** The same for all versions of a path. */
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

/** Which segment a block is in. */
export function segmentNumber(block: number): number {
  return Math.floor(block / segmentBlocks)
}

/** The name of a segment's file. */
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

/** Which segment a file's name stands for. */
export function segmentIdIn(name: string): SegmentId {
  const id = name.slice(name.lastIndexOf('.') + 1)
  return id === 'w' ? 'whole' : Number(id)
}

/** The pathKey in a file's name; undefined for a file that is none of ours. */
export function pathKeyInName(name: string): string | undefined {
  return namePattern.test(name) ? name.slice(0, pathKeyLength) : undefined
}

/** Which version a file's name stands for. */
export function versionKeyIn(name: string): string {
  return name.slice(0, pathKeyLength + fingerprintKeyLength)
}

/** The same segment under another version's name. */
export function renamed(name: string, to: StoredVersion): string {
  return to.key + name.slice(pathKeyLength + fingerprintKeyLength)
}

/** The folder a segment's file lies in. */
export function shardOf(name: string): string {
  return name.slice(0, 2)
}

function digest(text: string): string {
  return hash('sha256', text)
}
