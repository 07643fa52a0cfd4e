// Notes on the contents in the spool, for when the journal is not there to tell: a line of JSON for each, in one file beside
// them. No other part depends on it while the journal is well, so it gets no sync of its own and may fail to be written. One
// file, since to make and to remove a file costs more than all else that is written for a small save (docs/performance.md).

import type { Disk } from '../../world/disk.ts'
import { join } from 'node:path'
import { parseJson } from '../../parse-json.ts'
import { namesIn } from './names-in.ts'
import { infoIn, readSpoolInfo, removeSpoolInfo, spoolInfoSuffix, type SpoolInfo } from './spool-info.ts'

/** It ends as what no version takes for content. */
const fileName = `known${spoolInfoSuffix}`
/** It is written anew, without the lines of what has gone, when it is longer than this (bytes) … */
const shortBytes = 64 * 1024
/** … and so many times as long as what is left of it. */
const mostlyGone = 4

export class KnownContents {
  readonly #dir: string
  readonly #disk: Disk
  readonly #infos = new Map<string, SpoolInfo>()

  /** Takes over what an earlier run, of this version or of a former one, knew of what is in the folder. */
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
    // A line is about as long as another.
    if (bytes > shortBytes && bytes > mostlyGone * this.#infos.size * line.length) this.#writeAnew()
  }

  delete(id: string): void {
    this.#infos.delete(id)
  }

  /** Answers how long the file is by now; where somebody took it away, it has everything again. */
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
      // On a full disk the content itself is worth more.
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
      // The next start removes what is left of it.
      return false
    }
  }
}

/** Notes on the contents in a spool folder, where these `names` are, by their ids; also where no drive serves it. */
export function knownIn(dir: string, names: Iterable<string>, disk: Disk): Map<string, SpoolInfo> {
  const known = new Map<string, SpoolInfo>()
  for (const name of names) {
    // A former version has a file for each.
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

/** Begins anew, whatever a kill or a full disk left of the line before. */
function lineOf(id: string, info: SpoolInfo): string {
  return `\n${JSON.stringify({ id, ...info })}`
}
