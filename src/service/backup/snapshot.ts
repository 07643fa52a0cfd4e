// Snapshots: copies of a database as of one moment, made while the service runs, and the contents to which they refer.

import { createHash } from 'node:crypto'
import { open, rm } from 'node:fs/promises'
import Libsql from 'libsql'
import { isDiskFull } from '../disk-full.ts'
import { isDamage } from '../store/connection.ts'
import { noRoom } from './copy-file.ts'
import { BackupError } from './manifest.ts'

const busyTimeoutMs = 60_000

/** Writes a copy of `database` to `file`, replacing it. Throws a BackupError for a damaged database, or a full disk. */
export async function takeSnapshot(database: string, file: string): Promise<void> {
  await rm(file, { force: true })
  // SQLite fills an empty file, and leaves its mode alone.
  await (await open(file, 'wx', 0o600)).close()
  const source = new Libsql(database, { timeout: busyTimeoutMs })
  try {
    source.prepare('vacuum into ?').run([file])
  } catch (error) {
    if (isDamage(error))
      throw new BackupError(`${database} is damaged, and no backup is made of it`, { cause: error })
    throw isDiskFull(error) ? noRoom(file, error) : error
  } finally {
    source.close()
  }
  const handle = await open(file, 'r')
  try {
    await handle.sync()
  } finally {
    await handle.close()
  }
}

/** The contents of a snapshot, and the number of its projects and documents. */
export interface SnapshotContents {
  readonly projects: number
  readonly documents: number
  /** Sizes of contents that are files, by SHA-256. */
  readonly contents: ReadonlyMap<string, number>
  /** SHA-256 of contents in the database whose bytes are damaged. */
  readonly damaged: readonly string[]
}

/** Throws a BackupError when SQLite finds the snapshot damaged. */
export function readSnapshot(file: string): SnapshotContents {
  const database = new Libsql(file, { readonly: true })
  try {
    const [check] = rows<{ integrity_check: string }>(database, 'pragma integrity_check')
    if (check?.integrity_check !== 'ok')
      throw new BackupError(`the database is damaged: ${String(check?.integrity_check)}`)
    const small = new Set<string>()
    const damaged: string[] = []
    const smallRows = database.prepare('select sha256, bytes from small_contents').iterate()
    for (const { sha256, bytes } of smallRows as Iterable<{ sha256: string; bytes: ArrayBuffer }>) {
      if (createHash('sha256').update(new Uint8Array(bytes)).digest('hex') !== sha256) damaged.push(sha256)
      small.add(sha256)
    }
    const contents = new Map<string, number>()
    for (const table of ['nodes', 'documents'].filter((name) => hasTable(database, name))) {
      const found = rows<{ blob: string; size: number }>(
        database,
        `select distinct blob, size from ${table} where blob is not null`,
      )
      for (const { blob, size } of found) if (!small.has(blob)) contents.set(blob, size)
    }
    return {
      projects: countOf(database, 'select count(*) as count from projects'),
      documents: countOf(database, "select count(*) as count from nodes where kind = 'file'"),
      contents,
      damaged,
    }
  } finally {
    database.close()
  }
}

/** Names of the documents with this content, in the form of `DamagedContent`. */
export function documentsOf(file: string, sha256: string): string[] {
  const database = new Libsql(file, { readonly: true })
  try {
    const inFiles = `select projects.name || nodes.path as name from nodes
      join projects on projects.id = nodes.project_id where blob = ? order by name`
    const inTables = `select projects.name || ': ' || filename as name from documents
      join projects on projects.id = documents.project_id where blob = ? order by name`
    return [inFiles, ...(hasTable(database, 'documents') ? [inTables] : [])].flatMap((query) =>
      (database.prepare(query).all([sha256]) as { name: string }[]).map(({ name }) => name),
    )
  } finally {
    database.close()
  }
}

function hasTable(database: Libsql.Database, name: string): boolean {
  return countOf(database, `select count(*) as count from sqlite_master where name = '${name}'`) > 0
}

function countOf(database: Libsql.Database, query: string): number {
  return rows<{ count: number }>(database, query)[0]?.count ?? 0
}

function rows<Row>(database: Libsql.Database, query: string): Row[] {
  return database.prepare(query).all() as Row[]
}
