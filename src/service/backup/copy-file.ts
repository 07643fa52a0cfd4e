// A file copied durably, and read back: what the disk holds is what was meant.

import { open, unlink } from 'node:fs/promises'
import { pipeline } from 'node:stream/promises'
import { isDiskFull } from '../disk-full.ts'
import { BackupError, digestOf } from './manifest.ts'

/** Throws a BackupError when there is no room, or what was written, read back, has not this SHA-256; ENOENT when there is no such file. */
export async function copyVerified(from: string, to: string, sha256: string): Promise<void> {
  const source = await open(from, 'r')
  try {
    const target = await open(to, 'w', 0o600)
    try {
      // A stream over a bare descriptor closes it when writing fails, and then it may be another file's.
      await pipeline(source.createReadStream({ autoClose: false }), async function (chunks) {
        for await (const chunk of chunks) await target.writeFile(chunk as Buffer)
      })
      await target.sync()
    } catch (error) {
      throw isDiskFull(error) ? noRoom(to, error) : error
    } finally {
      await target.close()
    }
  } finally {
    await source.close()
  }
  const found = await digestOf(to)
  if (found === sha256) return
  await unlink(to)
  throw new BackupError(`${from} is damaged: its digest is ${found}, and ought to be ${sha256}`)
}

/** What is there so far stays, and is begun anew by the next try. */
export function noRoom(file: string, cause: unknown): BackupError {
  return new BackupError(`there is no room for ${file}`, { cause })
}
