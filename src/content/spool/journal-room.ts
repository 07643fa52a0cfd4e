// Room set aside for the journal inside its own two files, where no other program can take it: on a full disk deletes, sent
// uploads and everything else that makes room can still be journaled. Content gets ENOSPC long before.

import { fstatSync, ftruncateSync, writeSync } from 'node:fs'
import type Database from 'libsql'
import type { Disk } from '../../world/disk.ts'

const pageBytes = 4096
/** Pages the database may need beyond those it has: some thousand intentions. */
const databasePages = 256
/** A checkpoint comes after this many pages (SQLite's default), and the log begins again at its start. */
const checkpointPages = 1000
/** Pages that one transaction may add before the checkpoint is due. */
const spareLogPages = 128

/** Sets the room aside where it is not yet. Where it is not to be had the journal takes what it gets, as any other file. */
export function reserveRoom(db: Database.Database, log: number): void {
  try {
    reservePages(db)
    // The log starts to grow from what it is now: frames that were never written have no valid checksum and end it.
    reserveBytes(log, (checkpointPages + spareLogPages) * pageBytes)
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException
    if (code !== 'SQLITE_FULL' && code !== 'ENOSPC') throw error
  }
}

/** Pages of a row that is deleted again stay in the file, as free ones. */
function reservePages(db: Database.Database): void {
  // A kill while it was set aside leaves the table.
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
    // A disk that is nearly full takes a part first, and says so at the next.
    for (let at = 0; at < zeros.length;) at += writeSync(file, zeros, at, zeros.length - at, size + at)
  } catch (error) {
    ftruncateSync(file, size)
    throw error
  }
}

/** After a sync that failed (`believed-sync.ts`): the whole log, in one turn, so that nothing is written meanwhile. */
export function writeAgain(log: number, disk: Disk): void {
  const piece = Buffer.allocUnsafe(checkpointPages * pageBytes)
  for (let at = 0, bytes; (bytes = disk.readSync(log, piece, 0, piece.length, at)) > 0;)
    at += disk.writeSync(log, piece, 0, bytes, at)
}
