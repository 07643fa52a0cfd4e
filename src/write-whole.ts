// Atomic, durable writes of small files: written to `FILE.new`, synced, and renamed.

import { open, rename } from 'node:fs/promises'
import { dirname } from 'node:path'

/** Replaces a file: readers find the old content or the new one, also after a power cut. Mode 0600; one writer at a time. */
export async function writeWhole(file: string, content: string | Uint8Array): Promise<void> {
  const draft = await open(`${file}.new`, 'w', 0o600)
  try {
    await draft.writeFile(content)
    await draft.sync()
  } finally {
    await draft.close()
  }
  await rename(`${file}.new`, file)
  await syncFolder(dirname(file))
}

/** Syncs a folder: names made, renamed and removed in it so far are on disk when it resolves. */
export async function syncFolder(folder: string): Promise<void> {
  const handle = await open(folder, 'r')
  try {
    await handle.sync()
  } finally {
    await handle.close()
  }
}
