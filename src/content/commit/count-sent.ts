// How far an upload is, for people who wait.

import type { Intention } from '../intention.ts'

/** The same chunks; the intention tells how many of their bytes are on their way. */
export async function* countSent(
  intention: Pick<Intention, 'sentBytes'>,
  chunks: AsyncIterable<Uint8Array>,
): AsyncIterable<Uint8Array> {
  intention.sentBytes = 0
  for await (const chunk of chunks) {
    yield chunk
    intention.sentBytes += chunk.length
  }
}
