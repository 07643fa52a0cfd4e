// How the database is opened, by whom.

/** Before the first table, or it means nothing: `tidying.ts` gives free pages back. Each time it is said it is written. */
export const creationPragmas: readonly string[] = ['auto_vacuum = INCREMENTAL']

/** Every commit is on the disk before it is answered. */
export const writerPragmas: readonly string[] = [
  // Deleted content is overwritten, not only forgotten.
  'secure_delete = ON',
  'journal_mode = WAL',
  'synchronous = FULL',
  'foreign_keys = ON',
  // Pages: 8 MiB. Less often than by default, for each checkpoint costs two more syncs.
  'wal_autocheckpoint = 2000',
]

export const readerPragmas: readonly string[] = ['query_only = ON']
