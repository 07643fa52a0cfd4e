// The files of an open journal: the database, its write-ahead log, the log's index, and the lock of the folder. They are checked
// at their paths, since content written into files that were moved or deleted would not be found there.

import type Database from 'libsql'
import { join } from 'node:path'
import { bytesInPlace, knownFile, type KnownFile } from '../../known-file.ts'
import { syncNow, systemDisk, type Disk } from '../../world/disk.ts'
import { areInPlace, companionsOf, rewriteJournal } from './journal-anew.ts'
import { LogIndex } from './journal-index.ts'
import { openDatabase, openOrRepair } from './journal-opening.ts'
import { reserveRoom } from './journal-room.ts'
import { setFilesAside } from './journal-salvage.ts'
import { lockStateFolder, type StateLock } from './state-lock.ts'

export interface JournalFilesOptions {
  readonly stateDir: string
  readonly disk: Disk
  readonly now: () => Date
  /** Called with a sentence about damage that is found at the opening. */
  readonly damaged: (sentence: string) => void
}

/** An open database, its log and index, and the identities of the files at their paths. */
interface OpenFiles {
  readonly db: Database.Database
  /** Descriptor of the log, which is the same file for as long as the database is open. */
  readonly log: number
  readonly index: LogIndex
  readonly known: { readonly database: KnownFile; readonly companions: readonly KnownFile[] }
  /** Least size of the database's file, which never shrinks. */
  readonly bytes: number
}

export class JournalFiles {
  readonly #options: JournalFilesOptions
  readonly #path: string
  #lock: StateLock
  #open: OpenFiles
  /** New files that took the place of missing ones, and could not be opened yet: `rewriteJournal` must not set them aside as foreign. */
  #rewritten: readonly KnownFile[] = []

  /** Opens or creates them. Throws EBUSY where another daemon has them, ENOTSUP where a newer docmount wrote them. */
  constructor(options: JournalFilesOptions) {
    const { stateDir, disk, now, damaged } = options
    this.#options = options
    this.#path = join(stateDir, 'journal.db')
    this.#lock = lockStateFolder(stateDir, disk)
    try {
      this.#open = openFiles(openOrRepair(this.#path, stateDir, now(), damaged), this.#path, disk)
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

  /** Called before each use of the database. Throws if the log's index is unusable: SQLite has mapped it, and would crash. */
  checkIndex(): void {
    this.#open.index.check()
  }

  /** Called after each commit, to notice later writes by others in `state`. */
  noteCommit(): void {
    this.#open.index.note()
  }

  /**
   * Checks that the files are those that were opened. `thoroughly`: also the ones that SQLite could go on without. After
   * `taken away` call `rewriteMissing`; after `written over`, `setDatabaseAside` and then `createEmpty`.
   */
  state(thoroughly: boolean): 'in place' | 'taken away' | 'written over' {
    const { known, bytes, index, log } = this.#open
    const found = bytesInPlace(known.database)
    if (found === undefined) return 'taken away'
    if (thoroughly && !areInPlace([...known.companions, this.#lock.file])) return 'taken away'
    return found < bytes || !index.isAsNoted(log) ? 'written over' : 'in place'
  }

  get #databaseFiles(): readonly KnownFile[] {
    const { database, companions } = this.#open.known
    return [database, ...companions]
  }

  /**
   * Writes files that were removed again, from the open ones. Returns undefined if only the lock was missing; else the `former`
   * open files, and the name under which a foreign file in their place was set aside. Throws where that fails.
   */
  rewriteMissing(): { former: FormerFiles; aside: string | undefined } | undefined {
    const { stateDir, disk, now } = this.#options
    // The lock comes first: if another docmount has the folder by now, the journal in it is not ours.
    if (!areInPlace([this.#lock.file])) {
      const lock = lockStateFolder(stateDir, disk)
      this.#lock.close()
      this.#lock = lock
    }
    if (areInPlace(this.#databaseFiles)) return undefined
    const aside = rewriteJournal(this.db, this.#path, [...this.#databaseFiles, ...this.#rewritten], now())
    // Noted before it is opened: it is ours even if that fails.
    this.#rewritten = [knownFile(this.#path)]
    return { former: this.#openAgain(), aside }
  }

  /** Sets the overwritten database aside. Returns its new name. */
  setDatabaseAside(): string {
    return setFilesAside(this.#path, this.#options.now())
  }

  /** Creates and opens an empty journal in the place of one that was set aside. Undefined where it is open already. */
  createEmpty(): FormerFiles | undefined {
    return areInPlace(this.#databaseFiles) ? undefined : this.#openAgain()
  }

  /** Syncs the names in the folder. */
  syncNames(): void {
    syncNow(this.#options.stateDir, systemDisk)
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
      // The files are closed with the process.
    }
    this.#lock.close()
  }
}

/** Opens the log and index, and reserves space in the files. Throws the disk's error, with the database closed. */
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
  /** Closes the log. To be called after syncs of it in the thread pool, since its number may soon be another file's. */
  closeLog(): void
}
