// A record of the files forwarded to each table, over all drives and commands of the user, so that the same content is not sent
// twice. There is one append-only file per table; each batch that was sent adds a line.

import { createHash } from 'node:crypto'
import { join } from 'node:path'
import type { Disk } from '../world/disk.ts'
import { parseJson } from '../parse-json.ts'

/** The progress of forwarding one content. */
export interface ForwardedContent {
  /** The file's name when it was sent. */
  readonly file: string
  /** Number of its first rows that are in the table. */
  readonly rows: number
  /** Number of all its rows. */
  readonly total: number
  /** SHA-256 of the first `rows` rows. */
  readonly digest: string
  /** ISO time of the batch. */
  readonly at: string
}

export interface DigestibleRows {
  readonly name: string
  readonly count: number
  digestOfFirst(count: number): string | Promise<string>
}

export class ForwardedContents {
  readonly #disk: Disk
  readonly #folder: string

  /** `folder` is created if missing. */
  constructor(disk: Disk, folder: string) {
    this.#disk = disk
    this.#folder = folder
  }

  /** Finds an earlier forward of these rows: a complete one of any file name, or an interrupted one of this file name. */
  async find(tableId: string, file: DigestibleRows): Promise<ForwardedContent | undefined> {
    const known = this.#read(tableId)
    const isWhole = ({ rows, total }: ForwardedContent): boolean => rows === total
    const wholes = known.filter((each) => isWhole(each) && each.rows === file.count)
    if (wholes.length > 0) {
      const digest = await file.digestOfFirst(file.count)
      const same = wholes.findLast((each) => each.digest === digest)
      if (same !== undefined) return same
    }
    const last = known.findLast((each) => each.file === file.name)
    if (last === undefined || isWhole(last) || last.rows > file.count) return undefined
    return (await file.digestOfFirst(last.rows)) === last.digest ? last : undefined
  }

  /** Adds a record, and syncs it to disk before it resolves. Rejects with the disk's error. */
  async note(tableId: string, content: ForwardedContent): Promise<void> {
    await this.#disk.mkdir(this.#folder, { recursive: true, mode: 0o700 })
    const file = await this.#disk.open(this.#pathOf(tableId), 'a', 0o600)
    try {
      await file.writev([Buffer.from(`${JSON.stringify(content)}\n`)])
      await file.sync()
    } finally {
      await file.close()
    }
  }

  #read(tableId: string): ForwardedContent[] {
    const path = this.#pathOf(tableId)
    if (!this.#disk.existsSync(path)) return []
    // Incomplete lines, which a power cut may leave, are skipped.
    return this.#disk
      .readFileSync(path, 'utf8')
      .split('\n')
      .map((line) => parseJson(line))
      .filter(isForwardedContent)
  }

  /** A hash, because ids of tables may contain characters that file names cannot. */
  #pathOf(tableId: string): string {
    return join(this.#folder, `${createHash('sha256').update(tableId).digest('hex').slice(0, 32)}.jsonl`)
  }
}

function isForwardedContent(value: unknown): value is ForwardedContent {
  if (typeof value !== 'object' || value === null) return false
  const { file, rows, total, digest, at } = value as Record<string, unknown>
  const isText = [file, digest, at].every((each) => typeof each === 'string')
  return isText && Number.isInteger(rows) && Number.isInteger(total)
}
