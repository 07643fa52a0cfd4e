// Notes on the contents in the spool, for the case that the journal is lost: a line of JSON for each, in one file beside them.
// While the journal is intact the notes are not needed, so they are not synced, and failures to write them are ignored. It is
// one file, because creating and removing a file costs more than all other writes of a small save (docs/performance.md).

import type { Disk } from '../../world/disk.ts'
import { join } from 'node:path'
import { parseJson } from '../../parse-json.ts'
import { namesIn } from './names-in.ts'
import { infoIn, readSpoolInfo, removeSpoolInfo, spoolInfoSuffix, type SpoolInfo } from './spool-info.ts'

/** Its suffix is one that no version of docmount takes for content. */
const fileName = `known${spoolInfoSuffix}`
/** The file is written again, without lines of removed contents, when it is longer than this (bytes) … */
const shortBytes = 64 * 1024
/** … and so many times as long as the lines still needed. */
const staleFactor = 4

export class KnownContents {
  readonly #dir: string
  readonly #disk: Disk
  readonly #infos = new Map<string, SpoolInfo>()

  /** Reads the notes that an earlier run, perhaps of an older version, left on the contents in the folder. */
  constructor(dir: string, disk: Disk) {
    this.#dir = dir
    this.#disk = disk
    const names = new Set(namesIn(dir, disk))
    for (const [id, info] of knownIn(dir, names, disk)) if (names.has(id)) this.#infos.set(id, info)
    const former = [...names].filter((name) => name.endsWith(spoolInfoSuffix) && name !== fileName)
    if (former.length === 0 || !this.#writeAnew()) return
    for (const name of former) removeSpoolInfo(join(dir, name.slice(0, -spoolInfoSuffix.length)), disk)
  }

  get(id: string): SpoolInfo | undefined {
    return this.#infos.get(id)
  }

  set(id: string, info: SpoolInfo): void {
    const line = lineOf(id, info)
    const known = this.#infos.get(id)
    if (known !== undefined && lineOf(id, known) === line) return
    this.#infos.set(id, info)
    const bytes = this.#append(line)
    // Lines are about equally long.
    if (bytes > shortBytes && bytes > staleFactor * this.#infos.size * line.length) this.#writeAnew()
  }

  delete(id: string): void {
    this.#infos.delete(id)
  }

  /** Appends a line, and returns the file's new length (bytes). Writes the whole file again if it was removed. */
  #append(line: string): number {
    try {
      const fd = this.#disk.openSync(join(this.#dir, fileName), 'r+')
      try {
        const bytes = Buffer.from(line)
        const end = this.#disk.fstatSync(fd).size
        return end + this.#disk.writeSync(fd, bytes, 0, bytes.length, end)
      } finally {
        this.#disk.closeSync(fd)
      }
    } catch (error) {
      if ((error as NodeJS.ErrnoException).code === 'ENOENT') this.#writeAnew()
      // Other errors are ignored: on a full disk the content itself matters more.
      return 0
    }
  }

  #writeAnew(): boolean {
    const beside = join(this.#dir, `anew${spoolInfoSuffix}`)
    const lines = [...this.#infos].map(([id, info]) => lineOf(id, info))
    try {
      this.#disk.writeFileSync(beside, lines.join(''), { mode: 0o600 })
      this.#disk.renameSync(beside, join(this.#dir, fileName))
      return true
    } catch {
      // The next start removes the unfinished file.
      return false
    }
  }
}

/** Reads the notes on the contents in a spool folder, by id. `names`: the files in it. Needs no running drive. */
export function knownIn(dir: string, names: Iterable<string>, disk: Disk): Map<string, SpoolInfo> {
  const known = new Map<string, SpoolInfo>()
  for (const name of names) {
    // An older version wrote one file for each.
    const id = name.endsWith(spoolInfoSuffix) ? name.slice(0, -spoolInfoSuffix.length) : undefined
    const info = id === undefined ? undefined : readSpoolInfo(join(dir, id), disk)
    if (id !== undefined && info !== undefined) known.set(id, info)
  }
  for (const line of linesIn(join(dir, fileName), disk)) {
    const value = parseJson(line)
    const info = infoIn(value)
    if (info !== undefined) known.set(String((value as { id?: unknown }).id), info)
  }
  return known
}

function linesIn(file: string, disk: Disk): string[] {
  try {
    return disk.readFileSync(file, 'utf8').split('\n')
  } catch {
    // The file was not written yet, or cannot be read: there are no notes.
    return []
  }
}

/** The line of a note. It begins with a line break, as a kill or a full disk may have cut off the line before. */
function lineOf(id: string, info: SpoolInfo): string {
  return `\n${JSON.stringify({ id, ...info })}`
}
