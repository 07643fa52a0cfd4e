// Checks that a content is still what its hash says before it is promised to anybody anew: disks damage files.

import { createHash, hash } from 'node:crypto'
import { type Readable, Transform, pipeline } from 'node:stream'
import { ServiceError } from '../service-error.ts'

export interface ExpectedContent {
  readonly sha256: string
  readonly size: number
}

/** A content is not what its hash says, or not all there. */
export class DamagedContentError extends Error {
  override readonly name = 'DamagedContentError'
  readonly sha256: string

  constructor(sha256: string, how: string) {
    super(`content ${sha256} ${how}`)
    this.sha256 = sha256
  }
}

/**
 * Enough to read some gigabytes. A content that takes longer is taken for intact: the client that waits for the
 * answer would give up.
 */
const usualLimitMs = 10_000

/** Reads all of it, for `limitMs` at most. `open` is given the first and the last byte wanted. Throws ServiceError 503 where the store does not answer. */
export async function stateOf(
  { sha256, size }: ExpectedContent,
  open: (start: number, end: number) => Promise<Readable | undefined>,
  limitMs: number = usualLimitMs,
): Promise<'intact' | 'damaged' | 'missing'> {
  const digest = createHash('sha256')
  const untilMs = performance.now() + limitMs
  try {
    const bytes = size === 0 ? [] : await open(0, size - 1)
    if (bytes === undefined) return 'missing'
    for await (const chunk of bytes as AsyncIterable<Buffer>) {
      digest.update(chunk)
      if (performance.now() > untilMs) return 'intact'
    }
  } catch (error) {
    // Too short, or the disk cannot read it.
    if (!(error instanceof ServiceError)) return 'damaged'
    throw error
  }
  return digest.digest('hex') === sha256 ? 'intact' : 'damaged'
}

/**
 * The whole of a content, for a reader who is told its hash: one piece is looked at before it is sent, and the last piece of a
 * stream is held back until all are hashed, so that what is damaged never ends as a whole download. Throws, or fails with, a
 * DamagedContentError.
 */
export function checked(content: Buffer | Readable, sha256: string): Buffer | Readable {
  const wrong = (): Error => new DamagedContentError(sha256, 'differs from what was stored')
  if (Buffer.isBuffer(content)) {
    if (hash('sha256', content, 'hex') !== sha256) throw wrong()
    return content
  }
  const digest = createHash('sha256')
  let last: Buffer | undefined
  const check = new Transform({
    transform(chunk: Buffer, _, done) {
      digest.update(chunk)
      const before = last
      last = chunk
      done(null, before)
    },
    flush(done) {
      if (digest.digest('hex') === sha256) done(null, last)
      else done(wrong())
    },
  })
  return pipeline(content, check, () => undefined)
}

/** The answer to a request for a damaged content. */
export function damagedDocument(path: string, cause?: unknown): ServiceError {
  return new ServiceError(503, `the content of ${path} is damaged: store that document again`, { cause })
}
