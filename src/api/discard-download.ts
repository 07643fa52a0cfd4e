// Release of a download's connection, which stays taken until the body is read to its end or discarded.

import type { Download } from './types.ts'

/** Ends a download whose bytes are not wanted, and frees its connection. */
export async function discardDownload({ chunks }: Download): Promise<void> {
  await chunks[Symbol.asyncIterator]().return?.()
}
