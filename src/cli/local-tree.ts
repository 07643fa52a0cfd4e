// Local files and folders as the documents they become: a folder is taken with everything in it.

import { type Stats } from 'node:fs'
import { isUtf8 } from 'node:buffer'
import { lstat, readdir, stat } from 'node:fs/promises'
import { basename, join, resolve } from 'node:path'
import { DaemonError } from '../daemon/daemon-error.ts'

export interface LocalFile {
  readonly local: string
  /** Where it goes, in the project. */
  readonly path: string
  /** Size and times; a pipe or a device is none of our business here. */
  readonly stats: Stats
}

export interface LocalTree {
  readonly files: readonly LocalFile[]
  /** Entries that cannot be looked at. */
  readonly unreadable: readonly { readonly path: string; readonly error: Error }[]
}

/**
 * Every file named, or under a folder named, with its path under `folder`, which ends with a slash. Throws DaemonError for
 * a name that is not there, and where two files would have one path.
 */
export async function localTree(locals: readonly string[], folder: string): Promise<LocalTree> {
  const files: LocalFile[] = []
  const unreadable: { path: string; error: Error }[] = []

  async function collect(local: string, path: string, stats: Stats, above: readonly string[]): Promise<void> {
    if (!stats.isDirectory()) {
      files.push({ local, path, stats })
      return
    }
    const id = `${stats.dev}:${stats.ino}`
    if (above.includes(id)) throw new DaemonError(`${local} leads back to a folder it lies in`)
    const entries = (await readdir(local, { encoding: 'buffer' })).map((bytes) => ({
      name: bytes.toString(),
      bytes,
    }))
    for (const { name, bytes } of entries.toSorted((a, b) => (a.name < b.name ? -1 : 1))) {
      const child = join(local, name)
      try {
        if (!isUtf8(bytes)) throw new DaemonError(`${child}: its name is not UTF-8, which the service takes`)
        await collect(child, `${path}/${name}`, await statEntry(child), [...above, id])
      } catch (error) {
        unreadable.push({ path: child, error: error as Error })
      }
    }
  }

  // `.` and `..` have names of their own, and the root has none.
  for (const local of locals)
    await collect(local, (folder + basename(resolve(local))).replace(/\/+$/, ''), await statNamed(local), [])
  checkUnique(files)
  return { files, unreadable }
}

async function statNamed(local: string): Promise<Stats> {
  return await stat(local).catch((error: NodeJS.ErrnoException) => {
    throw error.code === 'ENOENT' ? new DaemonError(`there is no file ${local}`, { cause: error }) : error
  })
}

async function statEntry(local: string): Promise<Stats> {
  return await stat(local).catch(async (error: NodeJS.ErrnoException) => {
    const isLink = await lstat(local).then(
      (stats) => stats.isSymbolicLink(),
      () => false,
    )
    throw error.code === 'ENOENT' && isLink
      ? new DaemonError(`${local}: the link leads nowhere`, { cause: error })
      : error
  })
}

function checkUnique(files: readonly LocalFile[]): void {
  const byPath = new Map<string, string>()
  for (const { local, path } of files) {
    const other = byPath.get(path)
    if (other !== undefined) throw new DaemonError(`${other} and ${local} would both become ${path}`)
    byPath.set(path, local)
  }
}
