// Versions that a program here replaces or deletes are kept for undo, where their bytes are on this machine already. The service is
// told of the change after that.

import { versionOf } from '../../content/fingerprint.ts'
import type { Reader } from '../../content/read/reader.ts'
import type { Going } from '../../content/undo/record.ts'
import type { UndoStore } from '../../content/undo/undo-store.ts'

export interface KeepFormerParts {
  readonly undo: UndoStore
  readonly reader: Reader
}

/** Resolves when they survive a power cut. Never rejects. */
export async function keepFormer({ undo, reader }: KeepFormerParts, all: readonly Going[]): Promise<void> {
  for (const going of all)
    await undo.keep(going, (take) => reader.readHere(versionOf(going.path, going.fingerprint), take))
  await undo.durable()
}
