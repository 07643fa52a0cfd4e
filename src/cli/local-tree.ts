// Local files and folders as the documents they become: a folder is taken with everything in it.

import { readdir, stat } from 'node:fs/promises'
import { basename, join } from 'node:path'
import { DaemonError } from '../daemon/daemon-error.ts'

export interface LocalFile {
  readonly local: string
  /** Where it goes, in the project. */
  readonly path: string
}

/** Every file named, or under a folder named, with its path under `folder`, which ends with a slash. Throws DaemonError. */
export async function localTree(locals: readonly string[], folder: string): Promise<LocalFile[]> {
  const files: LocalFile[] = []
  for (const local of locals) await collect(local, folder + basename(local), files)
  return files
}

async function collect(local: string, path: string, files: LocalFile[]): Promise<void> {
  const stats = await stat(local).catch((error: NodeJS.ErrnoException) => {
    throw error.code === 'ENOENT' ? new DaemonError(`there is no file ${local}`, { cause: error }) : error
  })
  if (!stats.isDirectory()) {
    files.push({ local, path })
    return
  }
  for (const name of (await readdir(local)).toSorted())
    await collect(join(local, name), `${path}/${name}`, files)
}
