// Copies of files that are fsynced, then read back and compared by their SHA-256, to detect a disk that damages data.

import { createHash } from 'node:crypto'
import { link, open, unlink } from 'node:fs/promises'
import type { Readable } from 'node:stream'
import { pipeline } from 'node:stream/promises'
import { isDiskFull } from '../disk-full.ts'
import { BackupError, digestOf } from './manifest.ts'

/** Copies a file. Throws as `copyReadBack`, and a BackupError where the SHA-256 is another; the copy is removed then. */
export async function copyVerified(from: string, to: string, sha256: string): Promise<void> {
  const found = await copyReadBack(from, to)
  if (found === sha256) return
  await unlink(to)
  throw new BackupError(`${from} is damaged: its digest is ${found}, and ought to be ${sha256}`)
}

/**
 * Copies a file, reads the copy back, and returns its SHA-256. Throws a BackupError when the copy cannot be written, or
 * differs when it is read back; the system's error when the source cannot be read. The copy is removed then.
 */
export async function copyReadBack(from: string, to: string): Promise<string> {
  const source = await open(from, 'r')
  try {
    // With `autoClose` the stream would close the descriptor when writing fails, and `source.close()` another file's.
    return await writeReadBack(source.createReadStream({ autoClose: false }), to)
  } finally {
    await source.close()
  }
}

/** As `copyReadBack`, from a stream. */
export async function writeReadBack(source: Readable, to: string): Promise<string> {
  const hash = createHash('sha256')
  const target = await open(to, 'w', 0o600)
  try {
    await pipeline(source, async function (chunks) {
      for await (const chunk of chunks) {
        hash.update(chunk as Buffer)
        await target.writeFile(chunk as Buffer).catch((error: unknown) => refuseTarget(to, error))
      }
    })
    await target.sync().catch((error: unknown) => refuseTarget(to, error))
  } catch (error) {
    await unlink(to)
    throw error
  } finally {
    await target.close()
  }
  const read = hash.digest('hex')
  if ((await digestOf(to)) === read) return read
  await unlink(to)
  throw new BackupError(`${to} is not what was written: the disk damages what it is given`)
}

/**
 * Makes a hard link to a file of an earlier backup, if the file has this SHA-256. Returns false where it has not, is missing,
 * or cannot be linked (on another disk, for instance).
 */
export async function linkVerified(from: string, to: string, sha256: string): Promise<boolean> {
  try {
    await link(from, to)
  } catch {
    return false
  }
  if ((await digestOf(to).catch(() => undefined)) === sha256) return true
  await unlink(to)
  return false
}

function refuseTarget(to: string, error: unknown): never {
  if (isDiskFull(error)) throw noRoom(to, error)
  const { message } = error as Error
  throw new BackupError(`${to} cannot be written: ${message}`, { cause: error })
}

/** The error of a full disk. The unfinished backup stays until the next attempt, which begins again. */
export function noRoom(file: string, cause: unknown): BackupError {
  return new BackupError(`there is no room for ${file}`, { cause })
}
