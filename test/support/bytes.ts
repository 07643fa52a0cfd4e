// Test content without repetitions, so that a shifted, doubled or missing block is noticed.

import { createHash } from 'node:crypto'

/** Returns `length` bytes that depend on `seed` only; no two 32-byte groups are equal. */
export function patternedBytes(length: number, seed: string): Buffer {
  const bytes = Buffer.alloc(length)
  for (let offset = 0; offset < length; offset += 4_096) {
    // One digest per page and a counter per group: faster than a digest per group.
    const digest = createHash('sha256').update(`${seed} ${offset}`).digest()
    for (let group = offset; group < Math.min(offset + 4_096, length); group += 32) {
      digest.writeUInt32LE(group, 0)
      digest.copy(bytes, group, 0, Math.min(32, length - group))
    }
  }
  return bytes
}
