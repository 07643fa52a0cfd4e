// SQLite pragmas that each kind of connection to the embedded database runs when it is opened.

/** For the connection that creates the file: it writes, and has an effect only before the first table. `tidying.ts` needs it. */
export const creationPragmas: readonly string[] = ['auto_vacuum = INCREMENTAL']

/** For the writer. With WAL and FULL every commit is synced to disk before it returns. */
export const writerPragmas: readonly string[] = [
  // Deleted content is overwritten with zeros.
  'secure_delete = ON',
  'journal_mode = WAL',
  'synchronous = FULL',
  'foreign_keys = ON',
  // In pages: 8 MiB. Rarer than the default (1000), because each checkpoint costs two syncs.
  'wal_autocheckpoint = 2000',
]

export const readerPragmas: readonly string[] = ['query_only = ON']
