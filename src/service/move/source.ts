// The embedded store that moves, read directly from its database: SQLite's write-ahead log allows that while a service runs.

import { join } from 'node:path'
import Libsql from 'libsql'
import { databaseName } from '../backup/manifest.ts'
import { documentsOf } from '../backup/snapshot.ts'
import { MoveError } from './move-error.ts'
import { type MovedTable, movedTables } from './tables.ts'

const busyTimeoutMs = 60_000
/** Longest path that fits into an index of PostgreSQL: see `OpenedStore.maxPathBytes`. */
const maxPathBytes = 2_560
const pageRows = 5_000
const pageBytes = 16 * 1024 * 1024

export interface SourceContent {
  readonly sha256: string
  readonly size: number
  /** True for a content in the database, false for a file. */
  readonly isSmall: boolean
}

export class MoveSource {
  readonly dataDir: string
  readonly #database: Libsql.Database

  constructor(dataDir: string) {
    this.dataDir = dataDir
    this.#database = new Libsql(join(dataDir, databaseName), { timeout: busyTimeoutMs })
  }

  /** The contents that nodes and documents refer to at this moment. */
  contents(): SourceContent[] {
    const small = new Set(
      this.#all<{ sha256: string }>('select sha256 from small_contents').map(({ sha256 }) => sha256),
    )
    const referenced = this.#all<{ blob: string; size: number }>(
      'select blob, size from nodes where blob is not null union select blob, size from documents where blob is not null',
    )
    return referenced.map(({ blob, size }) => ({ sha256: blob, size, isSmall: small.has(blob) }))
  }

  /** The bytes of a small content; undefined when it was removed meanwhile. */
  small(sha256: string): Buffer | undefined {
    const [row] = this.#all<{ bytes: ArrayBuffer }>(
      'select bytes from small_contents where sha256 = ?',
      sha256,
    )
    return row === undefined ? undefined : Buffer.from(new Uint8Array(row.bytes))
  }

  /** Names of the documents with this content, in the form of `DamagedContent`. */
  documentsOf(sha256: string): string[] {
    return documentsOf(join(this.dataDir, databaseName), sha256)
  }

  /** The last key of each page of rows: at most `pageRows` rows, and about `pageBytes`, for a row may have megabytes. */
  *pageEnds({ name, columns, key }: MovedTable): Generator<string> {
    const bytes = columns.map((column) => `coalesce(octet_length("${column}"), 0)`).join(' + ')
    const query = `select ${key} as moved_key, ${bytes} as bytes from "${name}" where ${key} > ? order by ${key} limit ?`
    for (let last = ''; ;) {
      const rows = this.#all<{ moved_key: string; bytes: number }>(query, last, pageRows)
      let total = 0
      const end = rows.find((row) => (total += row.bytes) >= pageBytes) ?? rows.at(-1)
      if (end === undefined) return
      last = end.moved_key
      yield last
    }
  }

  /** The rows of a page, in the order of `table.key`: those after the key `last`, up to and including `end`. */
  rows({ name, columns, key }: MovedTable, last: string, end: string): Record<string, unknown>[] {
    const list = columns.map((column) => `"${column}"`).join(', ')
    return this.#all(
      `select ${list} from "${name}" where ${key} > ? and ${key} <= ? order by ${key}`,
      last,
      end,
    )
  }

  /** Throws a MoveError for a path or text that PostgreSQL cannot store. */
  check(): void {
    const [long] = this.#all<{ path: string }>(
      `select path from nodes where length(cast(path as blob)) > ${maxPathBytes} limit 1`,
    )
    if (long !== undefined)
      throw new MoveError(
        `a path is longer than the ${maxPathBytes} bytes there may be: ${long.path.slice(0, 100)}…`,
      )
    for (const { name, columns, key } of movedTables) {
      const texts = columns.map((column) => `instr(cast("${column}" as text), char(0)) > 0`).join(' or ')
      const [bad] = this.#all<{ id: string }>(`select ${key} as id from "${name}" where ${texts} limit 1`)
      if (bad !== undefined)
        throw new MoveError(`a text among ${name} contains NUL, which cannot be kept: ${bad.id}`)
    }
  }

  close(): void {
    this.#database.close()
  }

  #all<Row>(query: string, ...values: unknown[]): Row[] {
    return this.#database.prepare(query).all(...values) as Row[]
  }
}
