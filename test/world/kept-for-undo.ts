// All that is kept for undo: each version that can be brought back is one that the service had at its path, byte for byte.

import type { FormerVersion, UndoStore } from '../../src/content/undo/undo-store.ts'
import { Loss } from '../model/loss.ts'
import type { ServiceModel } from './service-model.ts'

export class KeptForUndo {
  readonly #looked = new Set<string>()

  /** Throws a Loss for a version that is not what it was. Looks at each once. */
  async check(undo: UndoStore, service: Pick<ServiceModel, 'hadAt'>): Promise<void> {
    for (const version of await undo.list()) {
      if (version.missing !== undefined || this.#looked.has(version.id)) continue
      this.#looked.add(version.id)
      const bytes = await read(undo, version)
      if (bytes === undefined || service.hadAt(version.path, bytes)) continue
      throw new Loss(`${version.path}: ${bytes.length} bytes are kept for undo, which were never there`)
    }
  }
}

/** Undefined where its bytes are known to be damaged: a disk that refuses a sync may lose them. */
async function read(undo: UndoStore, version: FormerVersion): Promise<Buffer | undefined> {
  const pieces: Uint8Array[] = []
  try {
    for await (const piece of undo.read(version)) pieces.push(piece)
  } catch (error) {
    if (['EIO', 'ENOENT'].includes((error as NodeJS.ErrnoException).code ?? '')) return undefined
    throw error
  }
  return Buffer.concat(pieces)
}
