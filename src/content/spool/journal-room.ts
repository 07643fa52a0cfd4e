// Space reserved inside the journal's two files, where no other program can take it: on a full disk, deletes, sent uploads and
// other changes that free space can still be journaled. Content gets ENOSPC long before.

import { fstatSync, ftruncateSync, writeSync } from 'node:fs'
import type Database from 'libsql'
import type { Disk } from '../../world/disk.ts'

const pageBytes = 4096
/** Pages that the database may need beyond those it has: enough for a thousand intentions. */
const databasePages = 256
/** A checkpoint comes after this many pages (SQLite's default), and the log begins again at its start. */
const checkpointPages = 1000
/** Pages that one transaction may add before the checkpoint is due. */
const spareLogPages = 128

/** Reserves the space, unless that was done. On a full disk nothing is reserved, and the journal grows like any other file. */
export function reserveRoom(db: Database.Database, log: number): void {
  try {
    reservePages(db)
    // Zeros at the end of the log do no harm: frames that were never written have no valid checksum, and end it.
    reserveBytes(log, (checkpointPages + spareLogPages) * pageBytes)
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException
    if (code !== 'SQLITE_FULL' && code !== 'ENOSPC') throw error
  }
}

/** Writes a large row and drops it again: its pages stay in the file as free ones. */
function reservePages(db: Database.Database): void {
  // A kill in the middle leaves the table.
  db.exec('drop table if exists room')
  const { freelist_count: free } = db.prepare('pragma freelist_count').get() as { freelist_count: number }
  if (free >= databasePages) return
  db.exec(`
    create table room (bytes blob);
    insert into room values (zeroblob(${databasePages * pageBytes}));
    drop table room;
    pragma wal_checkpoint(passive)`)
}

function reserveBytes(file: number, bytes: number): void {
  const { size } = fstatSync(file)
  if (size >= bytes) return
  const zeros = Buffer.alloc(bytes - size)
  try {
    // A disk that is nearly full writes a part first, and fails at the next call.
    for (let at = 0; at < zeros.length;) at += writeSync(file, zeros, at, zeros.length - at, size + at)
  } catch (error) {
    ftruncateSync(file, size)
    throw error
  }
}

/** Writes the whole log again after a failed sync (`believed-sync.ts`); synchronously, so that nothing is written meanwhile. */
export function writeAgain(log: number, disk: Disk): void {
  const piece = Buffer.allocUnsafe(checkpointPages * pageBytes)
  for (let at = 0, bytes; (bytes = disk.readSync(log, piece, 0, piece.length, at)) > 0;)
    at += disk.writeSync(log, piece, 0, bytes, at)
}
