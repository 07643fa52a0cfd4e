// One libsql connection, with its statements prepared once. Answers at once; knows no threads and no tables.
//
// libsql does not reset a statement whose step failed, and SQLite then refuses every later commit of the connection
// ("SQL statements in progress"). So a connection on which anything but a constraint failed is thrown away.

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
  /** Run on every new connection. */
  readonly pragmas: readonly string[]
}

const maxStatements = 500

export class Connection {
  readonly #file: string
  readonly #pragmas: readonly string[]
  /** Undefined where it was thrown away: libsql ends the whole process when a closed one is used. */
  #opened: Libsql.Database | undefined
  #statements = new Map<string, Prepared>()

  constructor(file: string, { pragmas }: ConnectionOptions) {
    this.#file = file
    this.#pragmas = pragmas
    this.#opened = this.#open()
  }

  get #database(): Libsql.Database {
    return (this.#opened ??= this.#open())
  }

  /** Throws SqliteError, and is a new connection then unless a constraint refused the row. */
  execute(sql: string, parameters: readonly unknown[]): Answer {
    try {
      const { statement, isReader } = this.#prepare(sql)
      if (isReader) return { rows: statement.all(parameters), changes: undefined }
      // libsql takes one step of it, and some pragmas need many.
      if (isPragma(sql)) {
        this.#database.exec(sql)
        return { rows: [], changes: 0 }
      }
      return { rows: [], changes: statement.run(parameters).changes }
    } catch (error) {
      if (!codeOf(error).startsWith('SQLITE_CONSTRAINT')) this.renew()
      throw error
    }
  }

  /** For `begin`, `commit` and the like: prepared each time, so that a refusal leaves no statement behind. */
  control(sql: string): void {
    this.#database.exec(sql)
  }

  get isInTransaction(): boolean {
    return this.#opened?.inTransaction ?? false
  }

  /** Forgets the connection, and with it an open transaction and whatever failed on it; the next use opens another. */
  renew(): void {
    this.close()
  }

  close(): void {
    this.#statements = new Map()
    this.#opened?.close()
    this.#opened = undefined
  }

  #open(): Libsql.Database {
    // Who waits for a lock does so without taking the thread: see `writer-thread.ts` and `dialect.ts`.
    const database = new Libsql(this.#file, { timeout: 0 })
    try {
      for (const pragma of this.#pragmas) database.pragma(pragma)
    } catch (error) {
      database.close()
      throw error
    }
    return database
  }

  #prepare(sql: string): Prepared {
    let prepared = this.#statements.get(sql)
    if (prepared === undefined) {
      const statement = this.#database.prepare(sql)
      prepared = { statement, isReader: statement.reader }
      if (this.#statements.size >= maxStatements) this.#statements.clear()
      this.#statements.set(sql, prepared)
    }
    return prepared
  }
}

function isPragma(sql: string): boolean {
  return /^\s*pragma\b/i.test(sql)
}

/** SQLite's name of what went wrong; empty for other errors. */
export function codeOf(error: unknown): string {
  return error instanceof Error && 'code' in error && typeof error.code === 'string' ? error.code : ''
}

/** Another connection has the lock that this one needs. */
export function isBusy(error: unknown): boolean {
  return codeOf(error).startsWith('SQLITE_BUSY')
}
