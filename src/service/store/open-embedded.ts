// Opens the store over libsql: one file, WAL, an fsync per commit. Another process may write too: whoever finds the file
// taken waits.

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

/** For another thread that only reads. The store in `dataDir` is open already. */
export function openEmbeddedReader(dataDir: string): Store {
  return kyselyOver(new Connection(join(dataDir, databaseName), { pragmas: readerPragmas }))
}

/** Changes that an opening would make in the store in `dataDir`; none is made. Throws a StartError as `openEmbedded`. */
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
 * Opens the store in `dataDir`, made where missing, and brings its tables up to date. Throws a StartError for a database that is
 * damaged, or gone from beside its contents.
 */
export async function openEmbedded(dataDir: string): Promise<OpenedStore> {
  const file = join(dataDir, databaseName)
  refuseLost(dataDir)
  const inPlace = [file, join(dataDir, 'service.lock')].filter((path) => existsSync(path)).map(knownFile)
  const writer = new Writer({ file, inPlace, reserveFile: join(dataDir, 'service.reserve') })
  const reader = new Connection(file, { pragmas: readerPragmas })
  const store = new Kysely<Database>({ dialect: dialectOf(reader, writer) })
  try {
    // The file's first connection is the writer's: it chooses the journal mode.
    await writer.statement('pragma journal_mode', [])
    await migrateAll(store, parts)
  } catch (error) {
    await store.destroy()
    // Kysely ends nothing that it has not begun, and a thread that is left keeps the process.
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
      // libsql leaves the log where it is, and whoever moves or copies the database alone would lose what is in it. A reader or a full disk may be in the way.
      await sql`pragma wal_checkpoint(truncate)`.execute(store).catch(() => undefined)
      await store.destroy()
    },
  }
}

/** To a new database all contents are what nothing refers to, and the sweep would take them. */
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

/** A start that died early leaves an empty one. */
function isMissing(file: string): boolean {
  return (statSync(file, { throwIfNoEntry: false })?.size ?? 0) === 0
}

async function sizeOf(file: string): Promise<number> {
  return (await stat(file).catch(() => undefined))?.size ?? 0
}
