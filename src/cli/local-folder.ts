// A folder on this machine that a command is to write into, or why it cannot, in words.

import { mkdir, realpath } from 'node:fs/promises'
import { dirname, resolve } from 'node:path'
import { DaemonError } from '../daemon/daemon-error.ts'
import { shellWord } from './shell-word.ts'

/** Makes the folder where it is missing, for this user alone; answers its true path. Throws a DaemonError. */
export async function ensureLocalFolder(path: string): Promise<string> {
  const folder = resolve(path)
  try {
    await mkdir(folder, { recursive: true, mode: 0o700 })
    return await realpath(folder)
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException
    const why = code === 'EEXIST' || code === 'ENOTDIR' ? 'a file is in the way' : code
    throw new DaemonError(`the folder ${folder} cannot be made (${why}); choose another`, { cause: error })
  }
}

/** For errors of opening a file at `path` for writing: its folder is missing, or is none, or may not be written to. */
export function unwritable(path: string, error: unknown): unknown {
  const folder = dirname(resolve(path))
  const { code = '' } = error as NodeJS.ErrnoException
  switch (code) {
    case 'ENOENT':
      return new DaemonError(`the folder ${folder} does not exist; run: mkdir -p ${shellWord(folder)}`, {
        cause: error,
      })
    case 'ENOTDIR':
      return new DaemonError(`${folder} is no folder; choose another place`, { cause: error })
    case 'EACCES':
    case 'EROFS':
      return new DaemonError(`the folder ${folder} may not be written to; choose another place`, {
        cause: error,
      })
    default:
      return error
  }
}
