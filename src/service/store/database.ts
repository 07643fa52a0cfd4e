// The tables of the store, in a subset of SQL that SQLite and PostgreSQL share: ids are uuids made here and kept as text,
// times are epoch milliseconds, paths are compared byte by byte.

import type { Kysely, Selectable } from './kysely.ts'

export interface Database {
  projects: ProjectsTable
  api_keys: ApiKeysTable
  key_projects: KeyProjectsTable
  nodes: NodesTable
  small_contents: SmallContentsTable
  detached: DetachedTable
  usage: UsageTable
  contents_mark: ContentsMarkTable
  administration: AdministrationTable
}

export interface ProjectsTable {
  id: string
  name: string
  created_at: number
  /** The last `modified_at` given out in this project: each upload gets a later one. */
  clock_ms: number
}

export interface ApiKeysTable {
  /** First digits of the hash: names a key without giving it away. */
  id: string
  /** SHA-256 of the key, hexadecimal. The key itself is nowhere. */
  hash: string
  /** The owner's name for it; null for keys that were made without. */
  name: string | null
  created_at: number
  /** From then on it opens nothing. */
  expires_at: number | null
  /** To the minute. */
  last_used_at: number | null
  access: 'read' | 'write'
  /** The part of its projects that it opens: this path and everything below; `/` is everything. */
  path: string
}

/** Which projects a key opens. */
export interface KeyProjectsTable {
  key_id: string
  project_id: string
}

export interface NodesTable {
  id: string
  project_id: string
  /** Null for the project's root, and for what is deleted and not cleared yet. */
  parent_id: string | null
  name: string
  /** Absolute (`/a/b.pdf`). Never changes while the node lives: the interface has no rename. */
  path: string
  kind: 'file' | 'folder'
  modified_at: number
  /** Bytes; null for folders, as are `mimetype` and `blob`. */
  size: number | null
  mimetype: string | null
  /** SHA-256 of the content, hexadecimal. */
  blob: string | null
}

export interface SmallContentsTable {
  sha256: string
  bytes: Buffer
}

/** Folders that were deleted while what is below them still waits to be cleared (`detached.ts`). */
export interface DetachedTable {
  project_id: string
  path: string
  /** By the project's clock: everything below `path` that is not younger is deleted. */
  detached_at: number
}

/** Documents and bytes of a project; written by triggers only. */
export interface UsageTable {
  project_id: string
  documents: number
  bytes: number
}

/** One row: what the folder of contents says of this database too (`blobs/own-contents.ts`). Embedded stores only. */
export interface ContentsMarkTable {
  id: string
  starts: number
}

/** Administrative changes, until they are in the audit log. */
export interface AdministrationTable {
  id: string
  at: number
  /** JSON object. */
  entry: string
}

export type Store = Kysely<Database>
export type ProjectRow = Selectable<ProjectsTable>
export type NodeRow = Selectable<NodesTable>
