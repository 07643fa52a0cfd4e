// Progress of an upload, shown to people who wait.

import type { Intention } from '../intention.ts'

/** Passes the chunks on, and counts their bytes in the intention, from 0. */
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
