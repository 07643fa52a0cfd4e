// `docmount free`: frees the disk space of a document or folder on this machine, and ends its pins. The service keeps all of it.

import type { Reader } from '../../content/read/reader.ts'
import { isAtOrUnder } from '../../path.ts'
import type { Tree } from '../tree/tree.ts'
import type { FreeAnswer } from './pin-status.ts'
import type { PinStore } from './pin-store.ts'
import type { Pins } from './pins.ts'
import { survey } from './survey.ts'

export interface FreeParts {
  readonly tree: Tree
  readonly reader: Reader
  readonly pinStore: PinStore
  readonly pins: Pins
}

/** Unsent content stays. Throws EBUSY where a folder above is pinned, ENOENT where nothing has this name. */
export async function free(parts: FreeParts, path: string, signal: AbortSignal): Promise<FreeAnswer> {
  const { tree, reader, pinStore, pins } = parts
  pinStore.checkNotInPin(path)
  const { documents } = await survey(tree, path, signal)
  let freed = 0
  for (const { version, bytes } of documents) {
    signal.throwIfAborted()
    if (version === undefined || reader.disk.held(version, bytes).held === 'nothing') continue
    // Before the pin ends, since the next round moves blocks of ended pins into the cache.
    await reader.forget(version.path)
    freed++
  }
  for (const pinned of pinStore.list()) if (isAtOrUnder(pinned, path)) pins.unpin(pinned)
  return { documents: freed }
}
