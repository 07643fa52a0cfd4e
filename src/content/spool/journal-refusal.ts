// The reason why the journal cannot be written. SQLite reports all of them as "disk I/O error", so the system is asked for its
// own error.

import { closeSync, fsyncSync, openSync, rmSync, writeSync } from 'node:fs'
import { join } from 'node:path'
import { ErrnoError } from '../../errno-error.ts'

type Refusal = ErrnoError & { syscall: string }

/** Replaces an I/O error of SQLite by the system's error, if writing another file in the folder fails, too. */
export function refusalOf(error: unknown, stateDir: string): unknown {
  const { code } = (error ?? {}) as { code?: unknown }
  if (typeof code !== 'string' || !/^SQLITE_(IOERR|CANTOPEN|READONLY)/.test(code)) return error
  const reason = refusalIn(stateDir)
  if (reason?.code === undefined) return error
  return refused(reason.code, `${stateDir} cannot be written: ${reason.message}`, error)
}

/** An error marked as local (`syscall`): it may pass, so no change is refused for it. */
export function refused(code: string, message: string, cause?: unknown): Refusal {
  return Object.assign(new ErrnoError(code, message, { cause }), { syscall: 'write' })
}

function refusalIn(folder: string): NodeJS.ErrnoException | undefined {
  const path = join(folder, 'journal.db.trial')
  let fd: number | undefined
  try {
    fd = openSync(path, 'w', 0o600)
    writeSync(fd, Buffer.alloc(4096))
    fsyncSync(fd)
    return undefined
  } catch (error) {
    return error as NodeJS.ErrnoException
  } finally {
    if (fd !== undefined) {
      closeSync(fd)
      rmSync(path, { force: true })
    }
  }
}
