// One libsql connection, with its statements prepared once. Answers at once; knows no threads and no tables.
//
// libsql does not reset a statement whose step failed, and SQLite then refuses every later commit of the connection
// ("SQL statements in progress"). So a connection on which anything but a constraint failed is thrown away.

import { statSync } from 'node:fs'
import Libsql from 'libsql'

export interface Answer {
  readonly rows: unknown[]
  /** Rows inserted, updated or deleted; undefined where rows are answered. */
  readonly changes: number | undefined
}

interface Prepared {
  readonly statement: Libsql.Statement
  readonly isReader: boolean
}

export interface ConnectionOptions {
  /** Run first on the connection that makes the file, and on no other: some write, and a full disk refuses that. */
  readonly creationPragmas?: readonly string[]
  /** Run on every new connection. */
  readonly pragmas: readonly string[]
}

const maxStatements = 500

export class Connection {
  readonly #file: string
  readonly #options: ConnectionOptions
  /** Undefined until it is needed, and once thrown away: libsql ends the process when a closed one is asked anything. */
  #database: Libsql.Database | undefined
  #statements = new Map<string, Prepared>()

  constructor(file: string, options: ConnectionOptions) {
    this.#file = file
    this.#options = options
  }

  /** Throws SqliteError, and begins anew then unless a constraint refused the row. */
  execute(sql: string, parameters: readonly unknown[]): Answer {
    try {
      // A refused checkpoint that was not reset would keep the write lock, even of a closed connection, until it is collected.
      if (isCheckpoint(sql)) {
        this.control(sql)
        return { rows: [], changes: 0 }
      }
      const { statement, isReader } = this.#prepare(sql)
      if (isReader) return { rows: statement.all(parameters), changes: undefined }
      // libsql takes one step of it, and some pragmas need many.
      if (isPragma(sql)) {
        this.control(sql)
        return { rows: [], changes: 0 }
      }
      return { rows: [], changes: statement.run(parameters).changes }
    } catch (error) {
      if (!codeOf(error).startsWith('SQLITE_CONSTRAINT')) this.close()
      throw error
    }
  }

  /** For `begin`, `commit` and the like: prepared each time, so that a refusal leaves no statement behind. */
  control(sql: string): void {
    this.#open().exec(sql)
  }

  get isInTransaction(): boolean {
    return this.#database?.inTransaction ?? false
  }

  /** Bytes that `shrink` would give back. */
  get unusedBytes(): number {
    const [free] = this.execute('pragma freelist_count', []).rows as { freelist_count: number }[]
    const [page] = this.execute('pragma page_size', []).rows as { page_size: number }[]
    const log = statSync(`${this.#file}-wal`, { throwIfNoEntry: false })?.size ?? 0
    return log + (free?.freelist_count ?? 0) * (page?.page_size ?? 0)
  }

  /** Gives unused pages back to the file system. */
  shrink(): void {
    this.control('pragma incremental_vacuum')
    this.control('pragma wal_checkpoint(truncate)')
  }

  /** Forgets the connection, and with it an open transaction and whatever failed on it. The next statement opens another. */
  close(): void {
    const database = this.#database
    this.#database = undefined
    this.#statements = new Map()
    if (database === undefined) return
    try {
      // Statements live until they are collected as garbage, and so does what they hold of a closed connection.
      if (database.inTransaction) database.exec('rollback')
    } finally {
      database.close()
    }
  }

  #open(): Libsql.Database {
    if (this.#database !== undefined) return this.#database
    // Waiting for a lock must not take the thread: see `writer-thread.ts` and `dialect.ts`.
    const database = new Libsql(this.#file, { timeout: 0 })
    const { creationPragmas = [], pragmas } = this.#options
    const isNew = (statSync(this.#file, { throwIfNoEntry: false })?.size ?? 0) === 0
    try {
      for (const pragma of isNew ? [...creationPragmas, ...pragmas] : pragmas)
        database.exec(`pragma ${pragma}`)
    } catch (error) {
      database.close()
      throw error
    }
    this.#database = database
    return database
  }

  #prepare(sql: string): Prepared {
    let prepared = this.#statements.get(sql)
    if (prepared === undefined) {
      const statement = this.#open().prepare(sql)
      prepared = { statement, isReader: statement.reader }
      if (this.#statements.size >= maxStatements) this.#statements.clear()
      this.#statements.set(sql, prepared)
    }
    return prepared
  }
}

export function isCheckpoint(sql: string): boolean {
  return /^\s*pragma\s+wal_checkpoint\b/i.test(sql)
}

function isPragma(sql: string): boolean {
  return /^\s*pragma\b/i.test(sql)
}

/** SQLite's name of what went wrong; empty for other errors. */
export function codeOf(error: unknown): string {
  return error instanceof Error && 'code' in error && typeof error.code === 'string' ? error.code : ''
}

/** The file is no database any more, or was written over, or has another one's log. Also where that is only the cause. */
export function isDamage(error: unknown): boolean {
  if (!(error instanceof Error)) return false
  return /^SQLITE_(?:NOTADB|CORRUPT|IOERR_SHORT_READ)/.test(codeOf(error)) || isDamage(error.cause)
}

/** Another connection has the lock that this one needs. */
export function isBusy(error: unknown): boolean {
  return codeOf(error).startsWith('SQLITE_BUSY')
}
