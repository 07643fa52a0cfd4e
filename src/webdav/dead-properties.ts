// Dead properties: properties that clients set, and the drive only stores (RFC 4918, section 4). The service cannot store them,
// so they are in a file of the state folder: a line per change, synced before the request is answered; rewritten at each start.
// They belong to a path: a move or removal through this door moves or removes them, too.

import { open, readFile, rename, type FileHandle } from 'node:fs/promises'
import type { Log } from '../log.ts'
import { isAtOrUnder } from '../path.ts'

export interface DeadProperty {
  readonly uri: string
  readonly local: string
  /** The whole XML element. */
  readonly source: string
}

/** One line of the file: the new properties of a path; an empty list removes them all. */
interface Row {
  readonly path: string
  readonly properties: readonly DeadProperty[]
}

export class DeadProperties {
  readonly #file: FileHandle
  readonly #rows: Map<string, readonly DeadProperty[]>
  readonly #log: Log
  /** The end of all writes so far. */
  #written: Promise<void> = Promise.resolve()

  private constructor(file: FileHandle, rows: Map<string, readonly DeadProperty[]>, log: Log) {
    this.#file = file
    this.#rows = rows
    this.#log = log
  }

  /** Opens the file. A line that cannot be parsed is skipped: the machine stopped during its write, before it was answered. */
  static async open(path: string, log: Log): Promise<DeadProperties> {
    const rows = new Map<string, readonly DeadProperty[]>()
    for (const line of (await readIfThere(path)).split('\n')) {
      const row = parseRow(line)
      if (row === undefined) {
        if (line !== '') log.warn({ file: path }, 'a line of the properties file cannot be read')
      } else apply(rows, row)
    }
    const next = `${path}.new`
    const file = await open(next, 'w', 0o600)
    await file.write(Array.from(rows, ([key, properties]) => lineOf({ path: key, properties })).join(''))
    await file.sync()
    await rename(next, path)
    return new DeadProperties(file, rows, log)
  }

  of(path: string): readonly DeadProperty[] {
    return this.#rows.get(path) ?? []
  }

  /** Resolves when they are on disk. */
  set(path: string, properties: readonly DeadProperty[]): Promise<void> {
    return this.#write([{ path, properties }])
  }

  /** Copies the properties at and under `from` to `to`. Like `move` and `remove` it never rejects. */
  copy(from: string, to: string): Promise<void> {
    return this.#writeSafely(this.#copies(from, to))
  }

  move(from: string, to: string): Promise<void> {
    return this.#writeSafely([...this.#copies(from, to), ...this.#removals(from)])
  }

  remove(path: string): Promise<void> {
    return this.#writeSafely(this.#removals(path))
  }

  async close(): Promise<void> {
    await this.#written
    await this.#file.close()
  }

  #copies(from: string, to: string): Row[] {
    return this.#below(from).map(([path, properties]) => ({
      path: to + path.slice(from.length),
      properties,
    }))
  }

  #removals(path: string): Row[] {
    return this.#below(path).map(([key]) => ({ path: key, properties: [] }))
  }

  #below(path: string): [string, readonly DeadProperty[]][] {
    return [...this.#rows].filter(([key]) => isAtOrUnder(key, path))
  }

  /** Logs a failure: the documents have moved already, and a full disk cannot undo that. */
  async #writeSafely(rows: readonly Row[]): Promise<void> {
    await this.#write(rows).catch((error: unknown) => {
      this.#log.warn({ error }, 'properties of what was moved or removed could not be written down')
    })
  }

  /** Applies the rows at once, and writes them after those of earlier calls. */
  #write(rows: readonly Row[]): Promise<void> {
    if (rows.length === 0) return Promise.resolve()
    for (const row of rows) apply(this.#rows, row)
    const lines = rows.map(lineOf).join('')
    const written = this.#written.then(async () => {
      await this.#file.write(lines)
      await this.#file.datasync()
    })
    this.#written = written.catch(() => {})
    return written
  }
}

function apply(rows: Map<string, readonly DeadProperty[]>, { path, properties }: Row): void {
  if (properties.length === 0) rows.delete(path)
  else rows.set(path, properties)
}

function lineOf(row: Row): string {
  return `${JSON.stringify(row)}\n`
}

function parseRow(line: string): Row | undefined {
  try {
    const row = JSON.parse(line) as Partial<Row> | null
    return typeof row?.path === 'string' && Array.isArray(row.properties) ? (row as Row) : undefined
  } catch {
    return undefined
  }
}

async function readIfThere(path: string): Promise<string> {
  try {
    return await readFile(path, 'utf8')
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return ''
    throw error
  }
}
