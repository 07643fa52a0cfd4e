// Operations on an open file or folder, as the kernel sends them, and conversion of their results.

import { setMaxListeners } from 'node:events'
import { errnoOf } from '../../src/fs/errno-of.ts'
import type { Attributes, Caller, Operations, OpenFlags, Time } from '../../src/fs/operations.ts'
import type { OpenFile, OpenMode, Stat } from './door.ts'

/** The kernel's limit for one READ or WRITE, in bytes. */
export const transferBytes: number = 128 * 1024

/** Returns this process as the caller of operations, with a signal that never aborts. */
export function thisProcess(): Caller {
  const caller: Caller = {
    uid: process.getuid?.() ?? 0,
    gid: process.getgid?.() ?? 0,
    pid: process.pid,
    signal: new AbortController().signal,
  }
  // No limit of listeners: all operations under way share this signal.
  setMaxListeners(0, caller.signal)
  return caller
}

/** Returns the open file. It owns one lookup reference on its node, which `close` gives back. */
export function openedFile(
  operations: Operations,
  caller: Caller,
  { ino, fh, flags, mode }: { ino: number; fh: number; flags: OpenFlags; mode: OpenMode },
): OpenFile {
  return {
    read: (length, position) =>
      translating(async () => {
        if (!flags.read) throw failure('EBADF', `${ino}`)
        const chunks: Uint8Array[] = []
        for (let done = 0; done < length;) {
          const wanted = Math.min(transferBytes, length - done)
          const parts = (await operations.read(fh, position + done, wanted, caller)).map((part) =>
            Buffer.from(part),
          )
          const got = parts.reduce((sum, part) => sum + part.length, 0)
          chunks.push(...parts)
          done += got
          if (got < wanted) break
        }
        return Buffer.concat(chunks)
      }),
    write: (data, position) =>
      translating(async () => {
        if (!flags.write) throw failure('EBADF', `${ino}`)
        const bytes = Buffer.from(data as Uint8Array)
        for (let done = 0; done < bytes.length; done += transferBytes) {
          const piece = bytes.subarray(done, done + transferBytes)
          const offset = mode.startsWith('a') ? 'end' : position + done
          const written = await operations.write(fh, offset, piece, caller)
          if (written !== piece.length) throw new Error(`${written} of ${piece.length} bytes written`)
        }
      }),
    stat: () => translating(async () => statOf((await operations.getattr(ino, fh, caller)).attributes)),
    truncate: (size) =>
      translating(async () => {
        await operations.setattr(ino, { size }, fh, caller)
      }),
    sync: () => translating(async () => operations.fsync(fh, caller)),
    close: () =>
      translating(async () => {
        try {
          await operations.flush(fh, caller)
        } finally {
          // The kernel sends RELEASE after close(2) has returned, so no program gets its error.
          await Promise.resolve(operations.release(fh)).catch(() => {})
          operations.forget(ino, 1)
        }
      }),
  }
}

/** Returns the names in a folder, by OPENDIR, READDIR and RELEASEDIR. */
export async function namesIn(operations: Operations, caller: Caller, ino: number): Promise<string[]> {
  const { fh } = await operations.opendir(ino, caller)
  const names: string[] = []
  try {
    let cookie = 0
    let taken: number
    do {
      // About as many as fit into one READDIRPLUS response of a page.
      taken = 0
      const filler = (child: { name: string }, next: number): boolean => {
        if (taken === 25) return false
        taken++
        names.push(child.name)
        cookie = next
        return true
      }
      await operations.readdir(fh, cookie, filler, caller)
    } while (taken > 0)
  } finally {
    operations.releasedir(fh)
  }
  return names
}

export function flagsOf(mode: OpenMode): OpenFlags {
  return {
    read: mode === 'r' || mode.includes('+'),
    write: mode !== 'r',
    truncate: mode.startsWith('w'),
  }
}

export function statOf(attributes: Attributes): Stat {
  const { kind, size, mode, ino, nlink, atime, mtime, ctime } = attributes
  const ns = (time: Time): bigint => BigInt(time.sec) * 1_000_000_000n + BigInt(time.nsec)
  return { kind, size, mode, ino, nlink, atimeNs: ns(atime), mtimeNs: ns(mtime), ctimeNs: ns(ctime) }
}

export function failure(code: string, path: string): Error {
  return Object.assign(new Error(`${code}: ${path}`), { code })
}

/** Returns the error with the errno that a system call would give. */
export function translated(error: unknown): Error {
  return Object.assign(new Error(String(error), { cause: error }), { code: errnoOf(error) })
}

/** Runs `use`; throws its errors as `translated`. */
export async function translating<T>(use: () => Promise<T>): Promise<T> {
  try {
    return await use()
  } catch (error) {
    throw translated(error)
  }
}
