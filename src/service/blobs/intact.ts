// Whether a content is what its hash says, before anybody is promised it anew: disks damage files.

import { createHash } from 'node:crypto'
import type { Readable } from 'node:stream'
import { ServiceError } from '../service-error.ts'

export interface ExpectedContent {
  readonly sha256: string
  readonly size: number
}

/** Some gigabytes. What takes longer to read is believed: whoever waits for the answer would give up. */
const limitMs = 10_000

/** Reads all of it. `open` is given the first and the last byte wanted. Throws ServiceError 503 where the store does not answer. */
export async function stateOf(
  { sha256, size }: ExpectedContent,
  open: (start: number, end: number) => Promise<Readable | undefined>,
): Promise<'intact' | 'damaged' | 'missing'> {
  const hash = createHash('sha256')
  const untilMs = performance.now() + limitMs
  try {
    const bytes = size === 0 ? [] : await open(0, size - 1)
    if (bytes === undefined) return 'missing'
    for await (const chunk of bytes as AsyncIterable<Buffer>) {
      hash.update(chunk)
      if (performance.now() > untilMs) return 'intact'
    }
  } catch (error) {
    // Too short, or the disk cannot read it.
    if (!(error instanceof ServiceError)) return 'damaged'
    throw error
  }
  return hash.digest('hex') === sha256 ? 'intact' : 'damaged'
}
