// The store that moves, read past its service: SQLite's write-ahead log lets both go on.

import { join } from 'node:path'
import Libsql from 'libsql'
import { databaseName } from '../backup/manifest.ts'
import { documentsOf } from '../backup/snapshot.ts'
import { MoveError } from './move-error.ts'
import { type MovedTable, movedTables } from './tables.ts'

const busyTimeoutMs = 60_000
/** PostgreSQL's index entries: see `OpenedStore.maxPathBytes`. */
const pathBytes = 2_560
const pageRows = 5_000
const pageBytes = 16 * 1024 * 1024

export interface SourceContent {
  readonly sha256: string
  readonly size: number
  /** Small ones are in the database, the others are files. */
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

  /** Undefined when it has gone meanwhile. */
  small(sha256: string): Buffer | undefined {
    const [row] = this.#all<{ bytes: ArrayBuffer }>(
      'select bytes from small_contents where sha256 = ?',
      sha256,
    )
    return row === undefined ? undefined : Buffer.from(new Uint8Array(row.bytes))
  }

  /** Documents that have this content, as a DamagedContent names them. */
  documentsOf(sha256: string): string[] {
    return documentsOf(join(this.dataDir, databaseName), sha256)
  }

  /** The keys at which pages end: of rows that fit into memory, and into one text, together. A row may have megabytes. */
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

  /** In the order of `table.key`, those after `last` up to `end`. */
  rows({ name, columns, key }: MovedTable, last: string, end: string): Record<string, unknown>[] {
    const list = columns.map((column) => `"${column}"`).join(', ')
    return this.#all(
      `select ${list} from "${name}" where ${key} > ? and ${key} <= ? order by ${key}`,
      last,
      end,
    )
  }

  /** Throws a MoveError for what PostgreSQL cannot keep. */
  check(): void {
    const [long] = this.#all<{ path: string }>(
      `select path from nodes where length(cast(path as blob)) > ${pathBytes} limit 1`,
    )
    if (long !== undefined)
      throw new MoveError(
        `a path is longer than the ${pathBytes} bytes there may be: ${long.path.slice(0, 100)}…`,
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
