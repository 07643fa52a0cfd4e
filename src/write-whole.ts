// A small file that is never seen half written, and is on disk when it is told of: written beside, synced, and renamed.

import { open, rename } from 'node:fs/promises'
import { dirname } from 'node:path'

/** Readers find all of `content` or all of what was there, also after a power cut. Readable by the owner alone; one writer at a time. */
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

/** Names made, changed and removed in the folder so far are on disk when it resolves. */
export async function syncFolder(folder: string): Promise<void> {
  const handle = await open(folder, 'r')
  try {
    await handle.sync()
  } finally {
    await handle.close()
  }
}
