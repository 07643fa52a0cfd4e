// The files of an open journal: the database, its write-ahead log and the log's index, and the lock of their folder. They are
// looked for at their paths: nobody would find there what is written into files that lie elsewhere by now.

import type Database from 'libsql'
import { join } from 'node:path'
import { bytesInPlace, knownFile, type KnownFile } from '../../known-file.ts'
import type { Disk } from '../../world/disk.ts'
import { areInPlace, companionsOf, syncNow, writeAnew } from './journal-anew.ts'
import { LogIndex } from './journal-index.ts'
import { openDatabase, openSoundly } from './journal-opening.ts'
import { reserveRoom } from './journal-room.ts'
import { moveAside } from './journal-salvage.ts'
import { lockStateFolder, type StateLock } from './state-lock.ts'

export interface JournalFilesOptions {
  readonly stateDir: string
  readonly disk: Disk
  readonly now: () => Date
  /** Told, in a sentence, of what is found damaged when it is opened. */
  readonly damaged: (sentence: string) => void
}

/** An open database, its log and index, and how they lay at their paths. */
interface OpenFiles {
  readonly db: Database.Database
  /** The same one for as long as the database is open. */
  readonly log: number
  readonly index: LogIndex
  readonly known: { readonly database: KnownFile; readonly companions: readonly KnownFile[] }
  /** Of the database's file, at least: it is never made smaller. */
  readonly bytes: number
}

export class JournalFiles {
  readonly #options: JournalFilesOptions
  readonly #path: string
  #lock: StateLock
  #open: OpenFiles
  /** Files put in the place of those that were gone, until they are open. */
  #made: readonly KnownFile[] = []

  /** Opens or makes them. Throws EBUSY when another daemon has them, ENOTSUP when a newer docmount wrote them. */
  constructor(options: JournalFilesOptions) {
    const { stateDir, disk, now, damaged } = options
    this.#options = options
    this.#path = join(stateDir, 'journal.db')
    this.#lock = lockStateFolder(stateDir, disk)
    try {
      this.#open = openFiles(openSoundly(this.#path, stateDir, now(), damaged), this.#path, disk)
    } catch (error) {
      this.#lock.close()
      throw error
    }
  }

  get db(): Database.Database {
    return this.#open.db
  }

  /** The descriptor of the write-ahead log. */
  get log(): number {
    return this.#open.log
  }

  /** Before each use of the database: throws where that would end the process. */
  check(): void {
    this.#open.index.check()
  }

  /** After each commit: nobody else writes into it. */
  note(): void {
    this.#open.index.note()
  }

  /** Tells whether the files are the ones that were opened. `thoroughly`: also those that SQLite would not trip over. */
  state(thoroughly: boolean): 'in place' | 'taken away' | 'written over' {
    const { known, bytes, index, log } = this.#open
    const found = bytesInPlace(known.database)
    if (found === undefined) return 'taken away'
    if (thoroughly && !areInPlace([...known.companions, this.#lock.file])) return 'taken away'
    return found < bytes || !index.isAsNoted(log) ? 'written over' : 'in place'
  }

  get #known(): readonly KnownFile[] {
    const { database, companions } = this.#open.known
    return [database, ...companions]
  }

  /**
   * Makes anew, of what is still open, the files that were taken away. Undefined where only the lock was; else what
   * was `former`ly open, and under which name that is set aside which stood in its place. Throws where it cannot be.
   */
  makeAnew(): { former: FormerFiles; aside: string | undefined } | undefined {
    const { stateDir, disk, now } = this.#options
    // First: where another docmount has the folder by now, the journal in it is not ours.
    if (!areInPlace([this.#lock.file])) {
      const lock = lockStateFolder(stateDir, disk)
      this.#lock.close()
      this.#lock = lock
    }
    if (areInPlace(this.#known)) return undefined
    const aside = writeAnew(this.db, this.#path, [...this.#known, ...this.#made], now())
    // Should it not open now, it is ours all the same.
    this.#made = [knownFile(this.#path)]
    return { former: this.#openAgain(), aside }
  }

  /** Sets aside the database that was written over. Answers under which name. */
  setAside(): string {
    return moveAside(this.#path, this.#options.now())
  }

  /** An empty journal in the place of one that was set aside. Undefined where that is open already. */
  beginAnew(): FormerFiles | undefined {
    return areInPlace(this.#known) ? undefined : this.#openAgain()
  }

  /** The names in the folder survive a power cut when this returns. */
  syncNames(): void {
    syncNow(this.#options.stateDir)
  }

  #openAgain(): FormerFiles {
    const { stateDir, disk } = this.#options
    const former = this.#open
    this.#open = openFiles(openDatabase(this.#path, stateDir), this.#path, disk)
    former.db.close()
    former.index.close()
    return { closeLog: () => disk.closeSync(former.log) }
  }

  close(): void {
    const { db, log, index } = this.#open
    this.#options.disk.closeSync(log)
    try {
      index.check()
      db.close()
      index.close()
    } catch {
      // It ends with the process.
    }
    this.#lock.close()
  }
}

/** With room set aside. Throws what the disk says; the database is closed then. */
function openFiles(db: Database.Database, path: string, disk: Disk): OpenFiles {
  let log: number | undefined
  let index: LogIndex | undefined
  try {
    log = disk.openSync(`${path}-wal`, 'r+')
    index = new LogIndex(`${path}-shm`)
    const database = knownFile(path)
    reserveRoom(db, log)
    index.note()
    const known = { database, companions: companionsOf(path) }
    return { db, log, index, known, bytes: bytesInPlace(database) ?? 0 }
  } catch (error) {
    if (log !== undefined) disk.closeSync(log)
    db.close()
    index?.close()
    throw error
  }
}

/** Files that were open before. */
export interface FormerFiles {
  /** A sync of its log may be under way in the thread pool, and its number would soon be another file's: after that. */
  closeLog(): void
}
