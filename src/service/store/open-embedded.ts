// Opens the embedded store: one libsql database in WAL mode, with an fsync per commit. Other processes may write to it, too:
// each waits for the lock of the other.

import { existsSync, statSync } from 'node:fs'
import { stat } from 'node:fs/promises'
import { join } from 'node:path'
import { Kysely, sql } from './kysely.ts'
import { type BlobOwner, ContentStore } from '../blobs/content-store.ts'
import { holdsContents, openDiskBackend } from '../blobs/disk.ts'
import { checkContents } from '../blobs/own-contents.ts'
import { loadSecret } from '../downloads/secret.ts'
import { StartError } from '../start-error.ts'
import { tablesStore } from '../tables/database.ts'
import { findDocumentBlobs } from '../tables/documents-store.ts'
import { tableMigrations } from '../tables/migrations.ts'
import { Connection, isDamage } from './connection.ts'
import type { Database, Store } from './database.ts'
import { dialectOf } from './dialect.ts'
import { kyselyOver } from './dialect-local.ts'
import { isInPlace, knownFile } from '../../known-file.ts'
import { type Parts, type Schema, migrateAll, schemaOfAll } from './migrate.ts'
import { migrations } from './migrations.ts'
import { findUsedBlobs } from './nodes.ts'
import type { OpenedStore } from './opened-store.ts'
import { readerPragmas } from './pragmas.ts'
import { FileTidying } from './tidying.ts'
import { Writer } from './writer.ts'

const databaseName = 'service.db'
const contentsName = 'blobs'
const parts: Parts = { service: migrations, tables: tableMigrations }

/** Opens the store in `dataDir` for another thread that only reads; `openEmbedded` has prepared it. */
export function openEmbeddedReader(dataDir: string): Store {
  return kyselyOver(new Connection(join(dataDir, databaseName), { pragmas: readerPragmas }))
}

/** The migrations that `openEmbedded` would run in `dataDir`. Changes nothing. Throws a StartError as `openEmbedded`. */
export async function embeddedSchema(dataDir: string): Promise<Schema> {
  refuseLost(dataDir)
  const file = join(dataDir, databaseName)
  if (isMissing(file)) return schemaOfAll(undefined, parts)
  const store = openEmbeddedReader(dataDir)
  try {
    return await schemaOfAll(store, parts)
  } catch (error) {
    throw whyNotOpened(file, error)
  } finally {
    await store.destroy()
  }
}

/**
 * Opens the store in `dataDir`, created if missing, and migrates its tables. Throws a StartError if the database is damaged, or
 * missing while its contents are there.
 */
export async function openEmbedded(dataDir: string): Promise<OpenedStore> {
  const file = join(dataDir, databaseName)
  refuseLost(dataDir)
  const inPlace = [file, join(dataDir, 'service.lock')].filter((path) => existsSync(path)).map(knownFile)
  const writer = new Writer({ file, inPlace, reserveFile: join(dataDir, 'service.reserve') })
  const reader = new Connection(file, { pragmas: readerPragmas })
  const store = new Kysely<Database>({ dialect: dialectOf(reader, writer) })
  try {
    // The writer connects first: its connection creates the file and sets the journal mode.
    await writer.statement('pragma journal_mode', [])
    await migrateAll(store, parts)
  } catch (error) {
    await store.destroy()
    // Kysely destroys only a driver that it has used, and a running writer thread would keep the process alive.
    await writer.close()
    throw whyNotOpened(file, error)
  }
  return {
    store,
    commits: writer,
    now: Date.now,
    isShared: false,
    maxPathBytes: 0,
    linkSecrets: () => loadSecret(join(dataDir, 'download-secret')),
    openContents: async (log) => {
      const folder = join(dataDir, contentsName)
      const backend = await openDiskBackend(folder)
      const owners: BlobOwner[] = [
        (sha256s) => findUsedBlobs(store, sha256s),
        (sha256s) => findDocumentBlobs(tablesStore(store), sha256s),
      ]
      await checkContents(folder, store, backend, async (sha256s) =>
        (await Promise.all(owners.map((owner) => owner(sha256s)))).flat(),
      )
      const contents = new ContentStore(backend, store, writer, log)
      for (const owner of owners) contents.addOwner(owner)
      return contents
    },
    tidying: (whenCleared, log) => new FileTidying(store, whenCleared, log),
    sizes: async () => ({
      [databaseName]: await sizeOf(file),
      [`${databaseName}-wal`]: await sizeOf(`${file}-wal`),
    }),
    isInPlace: () => inPlace.every(isInPlace),
    close: async () => {
      // libsql leaves the write-ahead log, and a copy of the database file alone would miss its content. Failure is harmless: the
      // next start reads the log.
      await sql`pragma wal_checkpoint(truncate)`.execute(store).catch(() => undefined)
      await store.destroy()
    },
  }
}

/** Refuses contents without their database: nothing in a new one refers to them, so the sweep would delete them. */
function refuseLost(dataDir: string): void {
  if (isMissing(join(dataDir, databaseName)) && holdsContents(join(dataDir, contentsName)))
    throw new StartError(
      `${dataDir} holds contents of documents, and ${databaseName}, which knows whose they are, is gone or empty: bring it back (docmount restore makes a data folder from a backup), or choose another folder`,
    )
}

function whyNotOpened(file: string, error: unknown): unknown {
  if (!isDamage(error)) return error
  return new StartError(`${file} is damaged: docmount restore makes a data folder from a backup`, {
    cause: error,
  })
}

/** An empty file counts as missing: a start that was killed early leaves one. */
function isMissing(file: string): boolean {
  return (statSync(file, { throwIfNoEntry: false })?.size ?? 0) === 0
}

async function sizeOf(file: string): Promise<number> {
  return (await stat(file).catch(() => undefined))?.size ?? 0
}
