// Every schema the journal has had, oldest first: a journal of any earlier docmount is brought up to date when it is
// opened. A migration is never edited once released; a change is a new one at the end.

import type Database from 'libsql'
import { ErrnoError } from '../../errno-error.ts'

const migrations: readonly string[] = [
  // 1. Tables of the first journals, which carry no version: hence `if not exists`.
  `create table if not exists intention (
    id integer primary key, kind text not null, path text not null, spool text, size integer, source text,
    source_fingerprint text, keep_source integer not null, base text, in_doubt integer not null, doubts text not null,
    proven integer not null, not_before integer not null, attempts integer not null, last_error text,
    refused integer not null, since integer not null);
  create table if not exists content (spool text primary key, bytes blob not null);
  create table if not exists folder (path text primary key) without rowid;
  create table if not exists scratch (path text primary key, spool text, reference text, reference_fingerprint text,
    reference_size integer) without rowid;
  create table if not exists attribute (path text primary key, fingerprint text not null, mode integer,
    mtime_sec integer, mtime_nsec integer) without rowid;
  create table if not exists counter (name text primary key, value integer not null) without rowid;`,
  // 2. SHA-256 of content as it was journaled, the errno of a refusal, access times set here.
  `alter table intention add column digest text;
  alter table intention add column error_errno text;
  alter table scratch add column size integer;
  alter table scratch add column digest text;
  alter table attribute add column atime_sec integer;
  alter table attribute add column atime_nsec integer;`,
  // 3. Spool files that are of no use any more and may still be there, and a checksum of each intention.
  `create table dropped (id integer primary key, spool text not null);
  alter table intention add column seal text;`,
  // 4. Conflict copies; before, they were only counted.
  `create table conflict (copy text primary key, path text not null, at integer not null) without rowid;`,
  // 5. Files that are on this machine only: signs that one may be half a document.
  `alter table scratch add column made_temporary integer;
  alter table scratch add column cut_off integer;`,
  // 6. DELETEs that were sent a while ago.
  `create table sent_delete (path text primary key, at integer not null) without rowid;`,
]

/** The schema this docmount writes. */
export const schemaVersion: number = migrations.length

/** A larger number was not written by any docmount: it is damage, not a newer version. */
const farVersion = 10_000

/** The schema of a journal. Throws ENOTSUP where a newer docmount wrote it: nothing may be written to that. */
export function versionOf(db: Database.Database, stateDir: string): number {
  const { user_version: version } = db.prepare('pragma user_version').get() as { user_version: number }
  if (version >= 0 && version <= schemaVersion) return version
  if (version < 0 || version > farVersion)
    throw Object.assign(new Error(`no journal has schema ${version}`), { code: 'SQLITE_CORRUPT' })
  throw new ErrnoError(
    'ENOTSUP',
    `the journal in ${stateDir} was written by a newer docmount (schema ${version}, this one knows ${schemaVersion}): use that one, or another --state-dir`,
  )
}

/** Brings a journal of that version up to date, all or nothing. */
export function migrate(db: Database.Database, version: number): void {
  const steps = migrations.slice(version).join('\n')
  try {
    db.exec(`begin immediate; ${steps} pragma user_version = ${schemaVersion}; commit`)
  } catch (error) {
    if (db.inTransaction) db.exec('rollback')
    throw error
  }
}
