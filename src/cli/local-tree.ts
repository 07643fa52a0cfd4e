// Lists the local files to upload, each with its path in the project; folders with everything in them.

import { type Stats } from 'node:fs'
import { isUtf8 } from 'node:buffer'
import { lstat, readdir, stat } from 'node:fs/promises'
import { basename, join, resolve } from 'node:path'
import { CommandError } from './command-error.ts'

export interface LocalFile {
  readonly local: string
  /** Path in the project. */
  readonly path: string
  /** Stats of the file, or of a pipe or device, which the upload refuses later. */
  readonly stats: Stats
}

export interface LocalTree {
  readonly files: readonly LocalFile[]
  /** Files and folders in `locals` that cannot be read, or whose name the service does not take. */
  readonly unreadable: readonly { readonly path: string; readonly error: Error }[]
}

/**
 * Lists the files in and under `locals`, with their paths under `folder`, which ends with a slash. Throws CommandError if one of
 * `locals` does not exist, or two files would have the same path.
 */
export async function localTree(locals: readonly string[], folder: string): Promise<LocalTree> {
  const files: LocalFile[] = []
  const unreadable: { path: string; error: Error }[] = []

  async function collect(
    local: string,
    path: string,
    stats: Stats,
    ancestors: readonly string[],
  ): Promise<void> {
    if (!stats.isDirectory()) {
      files.push({ local, path, stats })
      return
    }
    const id = `${stats.dev}:${stats.ino}`
    if (ancestors.includes(id)) throw new CommandError(`${local} leads back to a folder it lies in`)
    const entries = (await readdir(local, { encoding: 'buffer' })).map((bytes) => ({
      name: bytes.toString(),
      bytes,
    }))
    for (const { name, bytes } of entries.toSorted((a, b) => (a.name < b.name ? -1 : 1))) {
      const child = join(local, name)
      try {
        if (!isUtf8(bytes)) throw new CommandError(`${child}: its name is not UTF-8, which the service takes`)
        await collect(child, `${path}/${name}`, await statEntry(child), [...ancestors, id])
      } catch (error) {
        unreadable.push({ path: child, error: error as Error })
      }
    }
  }

  // Resolved, because `.` and `..` stand for folders that have names; `/` has none.
  for (const local of locals)
    await collect(local, (folder + basename(resolve(local))).replace(/\/+$/, ''), await statNamed(local), [])
  checkUnique(files)
  return { files, unreadable }
}

async function statNamed(local: string): Promise<Stats> {
  return await stat(local).catch((error: NodeJS.ErrnoException) => {
    throw error.code === 'ENOENT' ? new CommandError(`there is no file ${local}`, { cause: error }) : error
  })
}

async function statEntry(local: string): Promise<Stats> {
  return await stat(local).catch(async (error: NodeJS.ErrnoException) => {
    const isLink = await lstat(local).then(
      (stats) => stats.isSymbolicLink(),
      () => false,
    )
    throw error.code === 'ENOENT' && isLink
      ? new CommandError(`${local}: the link leads nowhere`, { cause: error })
      : error
  })
}

function checkUnique(files: readonly LocalFile[]): void {
  const byPath = new Map<string, string>()
  for (const { local, path } of files) {
    const other = byPath.get(path)
    if (other !== undefined) throw new CommandError(`${other} and ${local} would both become ${path}`)
    byPath.set(path, local)
  }
}
