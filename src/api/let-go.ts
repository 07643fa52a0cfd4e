// An answer that nobody reads to its end keeps a connection: whoever does not want it says so.

import type { Download } from './types.ts'

/** Lets go of an answer whose bytes are not wanted: its connection is free. */
export async function letGo({ chunks }: Download): Promise<void> {
  await chunks[Symbol.asyncIterator]().return?.()
}
