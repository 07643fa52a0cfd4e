// Keeps versions that a program here replaces or deletes for undo, if their bytes are on this machine already. The change is sent
// to the service after that.

import { versionOf } from '../../content/fingerprint.ts'
import type { Reader } from '../../content/read/reader.ts'
import type { Going } from '../../content/undo/record.ts'
import type { UndoStore } from '../../content/undo/undo-store.ts'

export interface KeepFormerParts {
  readonly undo: UndoStore
  readonly reader: Reader
}

/** Resolves when the kept versions survive a power cut. Never rejects. */
export async function keepFormer({ undo, reader }: KeepFormerParts, all: readonly Going[]): Promise<void> {
  for (const going of all)
    await undo.keep(going, (take) => reader.readHere(versionOf(going.path, going.fingerprint), take))
  await undo.durable()
}
