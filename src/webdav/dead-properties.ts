// Properties that clients set and only clients understand (RFC 4918, section 4). The service has no place for them, so they
// are in one file of the state folder: a line per change, each on disk before it is answered; rewritten when it is opened.
// They belong to a path: what this door moves or removes takes them along.

import { open, readFile, rename, type FileHandle } from 'node:fs/promises'
import type { Log } from '../log.ts'
import { isAtOrUnder } from '../path.ts'

export interface DeadProperty {
  readonly uri: string
  readonly local: string
  /** The whole element, in XML. */
  readonly source: string
}

/** One line: the properties of a path from now on; none = the path has none. */
interface Row {
  readonly path: string
  readonly properties: readonly DeadProperty[]
}

export class DeadProperties {
  readonly #file: FileHandle
  readonly #rows: Map<string, readonly DeadProperty[]>
  readonly #log: Log
  #written: Promise<void> = Promise.resolve()

  private constructor(file: FileHandle, rows: Map<string, readonly DeadProperty[]>, log: Log) {
    this.#file = file
    this.#rows = rows
    this.#log = log
  }

  /** A line that cannot be read was being written when the machine stopped: it was never answered. */
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

  /** On disk when this resolves. */
  set(path: string, properties: readonly DeadProperty[]): Promise<void> {
    return this.#write([{ path, properties }])
  }

  /** Copies the properties at and under `from` to `to`. Like `move` and `remove` it never rejects. */
  copy(from: string, to: string): Promise<void> {
    return this.#follow(this.#copies(from, to))
  }

  move(from: string, to: string): Promise<void> {
    return this.#follow([...this.#copies(from, to), ...this.#removals(from)])
  }

  remove(path: string): Promise<void> {
    return this.#follow(this.#removals(path))
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

  /** The documents have moved already: a full disk does not undo that. */
  async #follow(rows: readonly Row[]): Promise<void> {
    await this.#write(rows).catch((error: unknown) => {
      this.#log.warn({ error }, 'properties of what was moved or removed could not be written down')
    })
  }

  /** In the order asked; seen at once. */
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
