// Keeps versions that a program here replaces or deletes for undo, if their bytes are on this machine already, or are few enough
// to be downloaded first (`--undo-fetch`). The change is sent to the service after that.

import { versionOf, type Version } from '../../content/fingerprint.ts'
import type { Block } from '../../content/block.ts'
import { handOut } from '../../content/read/copy-out.ts'
import type { Reader } from '../../content/read/reader.ts'
import type { Going } from '../../content/undo/record.ts'
import type { ReadAll, UndoStore } from '../../content/undo/undo-store.ts'

export interface KeepFormerParts {
  readonly undo: UndoStore
  readonly reader: Reader
  readonly settings: { readonly undoFetchBytes: number }
}

/** How many of the versions that go together are read at a time. */
const atOnce = 8

/** Resolves when the kept versions survive a power cut. Never rejects: once the signal is aborted, nothing more is downloaded. */
export async function keepFormer(
  parts: KeepFormerParts,
  all: readonly Going[],
  signal: AbortSignal,
): Promise<void> {
  const { undo, reader, settings } = parts
  const left = all.values()
  const lane = async (): Promise<void> => {
    for (const going of left) {
      const version = versionOf(going.path, going.fingerprint)
      const isFetched = (version.size ?? Infinity) < settings.undoFetchBytes
      await undo.keep(
        going,
        (take) => reader.readHere(version, take),
        ...(isFetched ? [downloads(reader, version, signal)] : []),
      )
    }
  }
  await Promise.all(Array.from({ length: Math.min(atOnce, all.length) }, lane))
  await undo.durable()
}

/** A download that fails is no reason to keep the change from the service. */
function downloads(reader: Reader, version: Version, signal: AbortSignal): ReadAll {
  return async (take) => {
    const { size = 0 } = version
    const reading = reader.open(version)
    const read = async (offset: number, bytes: number): Promise<Block> => {
      try {
        return await reading.read(offset, bytes, { signal })
      } catch {
        return []
      }
    }
    try {
      return (await handOut(read, size, take)) === size
    } finally {
      reading.close()
    }
  }
}
