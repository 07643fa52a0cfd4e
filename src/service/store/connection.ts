// One libsql connection, with a cache of prepared statements. All calls are synchronous; no threads, no tables.
//
// libsql does not reset a statement whose step failed, and SQLite then refuses every later commit of the connection
// ("SQL statements in progress"). So the connection is closed after any failure but a constraint, and reopened by the next call.

import { statSync } from 'node:fs'
import Libsql from 'libsql'

export interface Answer {
  readonly rows: unknown[]
  /** Count of rows inserted, updated or deleted; undefined for a statement that returns rows. */
  readonly changes: number | undefined
}

interface Prepared {
  readonly statement: Libsql.Statement
  readonly isReader: boolean
}

export interface ConnectionOptions {
  /** Run only on the connection that creates the file, before `pragmas`: they write, which a full disk refuses. */
  readonly creationPragmas?: readonly string[]
  /** Run on every new connection. */
  readonly pragmas: readonly string[]
}

const maxStatements = 500

export class Connection {
  readonly #file: string
  readonly #options: ConnectionOptions
  /** Undefined before the first statement and after `close`: libsql crashes the process when a closed database is used. */
  #database: Libsql.Database | undefined
  #statements = new Map<string, Prepared>()

  constructor(file: string, options: ConnectionOptions) {
    this.#file = file
    this.#options = options
  }

  /** Throws SqliteError. The connection is closed then, with its open transaction, unless a constraint failed. */
  execute(sql: string, parameters: readonly unknown[]): Answer {
    try {
      // Not prepared: a failed checkpoint is not reset, and would hold the write lock until the statement is garbage collected.
      if (isCheckpoint(sql)) {
        this.control(sql)
        return { rows: [], changes: 0 }
      }
      const { statement, isReader } = this.#prepare(sql)
      if (isReader) return { rows: statement.all(parameters), changes: undefined }
      // `run` executes one step only, and some pragmas need many.
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

  /** Executes `begin`, `commit` and the like without the cache, so that a failure leaves no unfinished statement. */
  control(sql: string): void {
    this.#open().exec(sql)
  }

  get isInTransaction(): boolean {
    return this.#database?.inTransaction ?? false
  }

  /** Bytes that `shrink` would give back to the file system: free pages and the write-ahead log. */
  get unusedBytes(): number {
    const [free] = this.execute('pragma freelist_count', []).rows as { freelist_count: number }[]
    const [page] = this.execute('pragma page_size', []).rows as { page_size: number }[]
    const log = statSync(`${this.#file}-wal`, { throwIfNoEntry: false })?.size ?? 0
    return log + (free?.freelist_count ?? 0) * (page?.page_size ?? 0)
  }

  /** Gives free pages and the write-ahead log back to the file system. */
  shrink(): void {
    this.control('pragma incremental_vacuum')
    this.control('pragma wal_checkpoint(truncate)')
  }

  /** Closes the connection, and rolls back an open transaction. The next statement opens a new one. */
  close(): void {
    const database = this.#database
    this.#database = undefined
    this.#statements = new Map()
    if (database === undefined) return
    try {
      // Prepared statements hold locks until they are garbage collected, even of a closed connection.
      if (database.inTransaction) database.exec('rollback')
    } finally {
      database.close()
    }
  }

  #open(): Libsql.Database {
    if (this.#database !== undefined) return this.#database
    // SQLite would block the thread while it waits for a lock: `writer-thread.ts` and `dialect.ts` wait instead.
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

/** The `code` of an error, like `SQLITE_BUSY`; empty if it has none. */
export function codeOf(error: unknown): string {
  return error instanceof Error && 'code' in error && typeof error.code === 'string' ? error.code : ''
}

/** True if the database file is damaged, overwritten, or has the log of another one, also if that is only the cause of `error`. */
export function isDamage(error: unknown): boolean {
  if (!(error instanceof Error)) return false
  return /^SQLITE_(?:NOTADB|CORRUPT|IOERR_SHORT_READ)/.test(codeOf(error)) || isDamage(error.cause)
}

/** True if another connection has the lock that this one needs. */
export function isBusy(error: unknown): boolean {
  return codeOf(error).startsWith('SQLITE_BUSY')
}
