// Checks that a stored content still has its hash: disks damage files.

import { createHash, hash } from 'node:crypto'
import { type Readable, Transform, pipeline } from 'node:stream'
import { ServiceError } from '../service-error.ts'

export interface ExpectedContent {
  readonly sha256: string
  readonly size: number
}

/** The stored bytes of a content do not have its hash, or are fewer than recorded. */
export class DamagedContentError extends Error {
  override readonly name = 'DamagedContentError'
  readonly sha256: string

  constructor(sha256: string, damage: string) {
    super(`content ${sha256} ${damage}`)
    this.sha256 = sha256
  }
}

/**
 * Enough to read some gigabytes. A content that takes longer counts as intact: the client that waits for the
 * response would give up.
 */
const usualLimitMs = 10_000

/** Hashes a content, for `limitMs` at most. `open` takes its first and last byte. Throws ServiceError 503 as the storage does. */
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
    // The file is too short, or the disk cannot read it.
    if (!(error instanceof ServiceError)) return 'damaged'
    throw error
  }
  return digest.digest('hex') === sha256 ? 'intact' : 'damaged'
}

/**
 * Returns `content`, checked against its hash so that a damaged one never ends as a complete download: a buffer at once, a
 * stream while it is read, with its last chunk delayed until all are hashed. Throws, or destroys the stream with, a
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

/** The response to a request for a document whose content is damaged. */
export function damagedDocument(path: string, cause?: unknown): ServiceError {
  return new ServiceError(503, `the content of ${path} is damaged: store that document again`, { cause })
}
