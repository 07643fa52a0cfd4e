// Local folders that a command writes into, and messages if it cannot.

import { mkdir, realpath } from 'node:fs/promises'
import { dirname, resolve } from 'node:path'
import { CommandError } from './command-error.ts'
import { shellWord } from './shell-word.ts'

/** Makes the folder if it is missing (mode 0700), and returns its path without symbolic links. Throws CommandError. */
export async function ensureLocalFolder(path: string): Promise<string> {
  const folder = resolve(path)
  try {
    await mkdir(folder, { recursive: true, mode: 0o700 })
    return await realpath(folder)
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException
    const why = code === 'EEXIST' || code === 'ENOTDIR' ? 'a file is in the way' : code
    throw new CommandError(`the folder ${folder} cannot be made (${why}); choose another`, { cause: error })
  }
}

/** Returns a CommandError with advice if a file at `path` could not be opened because of its folder; else the error itself. */
export function folderError(path: string, error: unknown): unknown {
  const folder = dirname(resolve(path))
  const { code = '' } = error as NodeJS.ErrnoException
  switch (code) {
    case 'ENOENT':
      return new CommandError(`the folder ${folder} does not exist; run: mkdir -p ${shellWord(folder)}`, {
        cause: error,
      })
    case 'ENOTDIR':
      return new CommandError(`${folder} is no folder; choose another place`, { cause: error })
    case 'EACCES':
    case 'EROFS':
      return new CommandError(`the folder ${folder} may not be written to; choose another place`, {
        cause: error,
      })
    default:
      return error
  }
}
