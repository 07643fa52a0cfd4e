// `lost+found`: content in the spool without a journal row, after damage to the journal, or if it was never closed before a
// kill. Its right path is not known, so it is kept in dated folders, with what is known of it, until the user takes it out.

import { copyBesideOthers, syncNow, type Disk } from '../../world/disk.ts'
import { basename, dirname, join } from 'node:path'
import { knownIn } from './known-contents.ts'
import { namesIn } from './names-in.ts'
import { makePrivateFolder } from './private-file.ts'
import { isTemporary, type Spool } from './spool.ts'
import {
  readSpoolInfo,
  removeSpoolInfo,
  spoolInfoSuffix,
  writeSpoolInfo,
  type SpoolInfo,
} from './spool-info.ts'

export interface LostContent {
  /** Its file on this machine. */
  readonly file: string
  /** The path it was saved as in the project; undefined where it was never closed, or none is known. */
  readonly path: string | undefined
  /** Name of the document, as far as known. */
  readonly name: string
  readonly bytes: number
}

export interface FoundContent extends LostContent {
  /** Its size when it was saved, where that is known. */
  readonly savedBytes: number | undefined
}

export class LostAndFound {
  readonly #dir: string
  readonly #disk: Disk

  constructor(stateDir: string, disk: Disk) {
    this.#disk = disk
    this.#dir = join(stateDir, 'lost+found')
  }

  /** Everything that is kept, oldest first. */
  list(): LostContent[] {
    return namesIn(this.#dir, this.#disk)
      .sort()
      .flatMap((day) => namesIn(join(this.#dir, day), this.#disk).map((name) => join(this.#dir, day, name)))
      .filter((file) => !file.endsWith(spoolInfoSuffix))
      .map((file) => describe(file, readSpoolInfo(file, this.#disk), this.#disk))
  }

  /**
   * Moves spool files here, with what is known of them, and syncs the folders. Never reads the files, as they may be large, and
   * the start waits for this.
   */
  keep(spool: Spool, ids: readonly string[], foundAt: Date): FoundContent[] {
    if (ids.length === 0) return []
    const disk = this.#disk
    const day = join(this.#dir, foundAt.toISOString().slice(0, 19).replaceAll(':', '.'))
    makePrivateFolder(this.#dir, disk)
    makePrivateFolder(day, disk)
    // Before the first file moves: no power cut may take the folder that it moves to.
    for (const folder of [this.#dir, dirname(this.#dir)]) syncFolderSync(folder, disk)
    const found = ids.map((id) => {
      const info = spool.infoOf(id)
      const file = join(day, id)
      if (info !== undefined) writeSpoolInfo(file, info, disk)
      disk.renameSync(join(spool.dir, id), file)
      spool.forget(id)
      return { ...describe(file, info, disk), savedBytes: info?.size }
    })
    syncFolderSync(day, disk)
    return found
  }

  /** Copies everything to a folder outside the mount, at its paths, then removes it here. Returns the new files. */
  async giveBack(destination: string): Promise<string[]> {
    const copies: string[] = []
    for (const lost of this.list()) {
      const target = await copyOut(lost, destination, this.#disk)
      copies.push(target)
      removeSpoolInfo(lost.file, this.#disk)
      this.#disk.unlinkSync(lost.file)
      await this.#disk.rmdir(dirname(lost.file)).catch(() => {})
    }
    return copies
  }
}

/** Spool files that no journal row needs: those that the next start would move here. */
export function strayIn(spoolDir: string, isWanted: (id: string) => boolean, disk: Disk): LostContent[] {
  const names = namesIn(spoolDir, disk)
  const known = knownIn(spoolDir, names, disk)
  return names
    .filter((id) => !id.endsWith(spoolInfoSuffix) && !isTemporary(id) && !isWanted(id))
    .map((id) => describe(join(spoolDir, id), known.get(id), disk))
    .filter(({ bytes }) => bytes > 0)
}

/** Copies a file and syncs it, before it is removed here. Never overwrites a file. */
function copyOut({ file, path, name }: LostContent, destination: string, disk: Disk): Promise<string> {
  return placeUnder(destination, path ?? name, disk, (target) =>
    disk.copyFile(file, target, copyBesideOthers),
  )
}

/**
 * Puts a file at its path below `destination`, by `write`, which must not overwrite anything. Where something is in the
 * way, it keeps its name below `destination/also 2`, and so on. Returns the file's path, after a sync of it and its folders.
 */
export async function placeUnder(
  destination: string,
  path: string,
  disk: Disk,
  write: (target: string) => Promise<unknown>,
): Promise<string> {
  const parts = path.split('/').filter((part) => !['', '.', '..'].includes(part))
  const made = await disk.mkdir(destination, { recursive: true, mode: 0o700 })
  const top = dirname(typeof made === 'string' ? made : destination)
  for (let count = 1; ; count++) {
    const target = join(destination, ...(count === 1 ? [] : [`also ${count}`]), ...parts)
    try {
      await disk.mkdir(dirname(target), { recursive: true, mode: 0o700 })
      await write(target)
    } catch (error) {
      if (inTheWay.has((error as NodeJS.ErrnoException).code)) continue
      throw error
    }
    syncNow(target, disk)
    // The copy is not found after a power cut where one of its folders is missing.
    for (let folder = dirname(target); ; folder = dirname(folder)) {
      syncFolderSync(folder, disk)
      if (folder === top || folder === dirname(folder)) return target
    }
  }
}

/** Makes the names in a folder survive a power cut, where its disk can. Throws the disk's errors. */
function syncFolderSync(folder: string, disk: Disk): void {
  try {
    syncNow(folder, disk)
  } catch (error) {
    // Some network file systems sync no folders.
    if ((error as NodeJS.ErrnoException).code !== 'EINVAL') throw error
  }
}

/** Errors where the name is taken, a file is in place of a folder, or a folder in place of a file. */
const inTheWay: ReadonlySet<string | undefined> = new Set(['EEXIST', 'ENOTDIR', 'EISDIR'])

function describe(file: string, info: SpoolInfo | undefined, disk: Disk): LostContent {
  const path = info?.path
  // Without the UUID of 36 characters at the end of an id.
  const name = path === undefined ? basename(file).slice(0, -37) || basename(file) : basename(path)
  return { file, path, name, bytes: disk.statSync(file).size }
}
