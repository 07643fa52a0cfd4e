// The journal's database on the rules of the simulated disk. libsql writes real files; what of its log survives a cut is
// what the drive synced, what SQLite itself synced before a checkpoint, and of the rest any subset, torn.
//
// A log is appended to until a checkpoint has taken all of it into the database, then begun anew under another salt. The
// database file is written by checkpoints alone, which sync the log first and the file after: it is taken as it is.

import {
  closeSync,
  copyFileSync,
  existsSync,
  fstatSync,
  ftruncateSync,
  openSync,
  readSync,
  writeSync,
} from 'node:fs'
import { join } from 'node:path'
import type { Chance } from '../model/chance.ts'
import type { EndSync } from './platter.ts'

const headerBytes = 32
const frameBytes = 24 + 4096

/** How far a log was written, and under which salt. */
interface Reach {
  readonly salt: bigint
  readonly end: number
}

/** Logs pass through here one at a time, on their way from one life to the next. */
let room: Buffer = Buffer.alloc(0)

function roomFor(bytes: number): Buffer {
  if (room.length < bytes) room = Buffer.allocUnsafe(bytes)
  return room.subarray(0, bytes)
}

export class JournalFiles {
  readonly #dir: string
  /** The log; undefined before there is one. */
  #log: number | undefined
  #synced: Reach = { salt: 0n, end: headerBytes }
  /** Written, and taken for written by a sync that failed: not there, and no later sync knows of it (fsync(2)). */
  #lost: { readonly salt: bigint; readonly from: number; readonly end: number }[] = []
  readonly #header = Buffer.alloc(headerBytes)

  constructor(dir: string) {
    this.#dir = dir
    // A log that an earlier life left is on disk.
    if (this.#logThere() !== undefined) this.#synced = this.#reach()
  }

  /** Everything in the log now is on disk once the answer is called with true. */
  beginSync(): EndSync {
    const reach = this.#reach()
    return (isTaken) => {
      if (isTaken) this.#synced = reach
      else this.#lost.push({ ...reach, from: this.#syncedUnder(reach.salt) })
    }
  }

  /** A part of it is written again: no sync that failed lost anything of that. */
  writtenAgain(from: number, end: number): void {
    this.#lost = this.#lost
      .flatMap((lost) => [
        { ...lost, end: Math.min(lost.end, from) },
        { ...lost, from: Math.max(lost.from, end) },
      ])
      .filter((lost) => lost.from < lost.end)
  }

  /** Up to where it is on disk, as far as the drive synced it. */
  #syncedUnder(salt: bigint): number {
    return this.#synced.salt === salt ? this.#synced.end : headerBytes
  }

  /** Copies the files to another folder as they are after a kill. */
  copyTo(dir: string): void {
    this.#copyTo(dir, (log) => log)
  }

  /** Copies the files to another folder as they are after a power cut. */
  cutTo(dir: string, chance: Chance): void {
    this.#copyTo(dir, (log, { salt, end }) => {
      const checkpointed = this.#checkpointed()
      const synced = this.#syncedUnder(salt)
      const lost = this.#lost.filter((each) => each.salt === salt)
      const isKept = (frame: number): boolean =>
        frame < checkpointed ||
        (frame < synced && !lost.some((each) => each.from <= frame && frame < each.end))
      for (let frame = headerBytes; frame < end; frame += frameBytes) {
        if (isKept(frame)) continue
        const fate = chance.random()
        if (fate < 0.5) continue
        log.fill(0, fate < 0.75 ? frame : frame + 512 * chance.below(9), frame + frameBytes)
      }
      return log
    })
  }

  /** This life is over: nothing is asked any more. */
  close(): void {
    if (this.#log !== undefined) closeSync(this.#log)
    this.#log = undefined
  }

  #copyTo(dir: string, change: (log: Buffer, reach: Reach) => Buffer): void {
    for (const file of ['journal.db', 'listings.db'])
      if (existsSync(join(this.#dir, file))) copyFileSync(join(this.#dir, file), join(dir, file))
    const log = this.#logThere()
    if (log === undefined) return
    const reach = this.#reach()
    const bytes = roomFor(reach.end)
    readSync(log, bytes, 0, bytes.length, 0)
    const copy = openSync(join(dir, 'journal.db-wal'), 'w', 0o600)
    try {
      writeSync(copy, change(bytes, reach))
      // Room that is set aside, and frames of an earlier salt, which nobody reads: holes, that cost no time.
      ftruncateSync(copy, fstatSync(log).size)
    } finally {
      closeSync(copy)
    }
  }

  #logThere(): number | undefined {
    const path = join(this.#dir, 'journal.db-wal')
    if (this.#log === undefined && existsSync(path)) this.#log = openSync(path, 'r')
    return this.#log
  }

  /** Up to where the log was taken into the database: SQLite synced that much of it before. */
  #checkpointed(): number {
    const shm = join(this.#dir, 'journal.db-shm')
    if (!existsSync(shm)) return headerBytes
    const head = Buffer.alloc(100)
    const fd = openSync(shm, 'r')
    try {
      readSync(fd, head, 0, head.length, 0)
    } finally {
      closeSync(fd)
    }
    return headerBytes + head.readUInt32LE(96) * frameBytes
  }

  /** Frames carry the salt of the log's header; the first that does not ends it. */
  #reach(): Reach {
    const log = this.#logThere()
    const header = this.#header
    if (log === undefined || readSync(log, header, 0, headerBytes, 0) < headerBytes)
      return { salt: 0n, end: headerBytes }
    const salt = header.readBigUInt64LE(16)
    let end = this.#syncedUnder(salt)
    while (readSync(log, header, 0, 24, end) === 24 && header.readBigUInt64LE(8) === salt) end += frameBytes
    return { salt, end }
  }
}
