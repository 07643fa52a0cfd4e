// Content for tests that is different everywhere, so that a shifted, doubled or missing block is seen.

import { createHash } from 'node:crypto'

/** `length` bytes, the same for the same `seed`; no two 32-byte groups are alike. */
export function patternedBytes(length: number, seed: string): Buffer {
  const bytes = Buffer.alloc(length)
  for (let offset = 0; offset < length; offset += 4_096) {
    // One digest per page, then a counter per group: fast, and still unlike everywhere.
    const digest = createHash('sha256').update(`${seed} ${offset}`).digest()
    for (let group = offset; group < Math.min(offset + 4_096, length); group += 32) {
      digest.writeUInt32LE(group, 0)
      digest.copy(bytes, group, 0, Math.min(32, length - group))
    }
  }
  return bytes
}
