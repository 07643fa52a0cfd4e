// The tables of the store, in the SQL that SQLite and PostgreSQL share: ids are uuids made by the service and stored as text,
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
  /** The latest `modified_at` in this project: each upload gets a later one. */
  clock_ms: number
}

export interface ApiKeysTable {
  /** The first digits of the hash: they name a key without revealing it. */
  id: string
  /** SHA-256 of the key, hexadecimal. The key itself is stored nowhere. */
  hash: string
  /** The owner's name for the key; null if it has none. */
  name: string | null
  created_at: number
  /** The key opens nothing from this time on; null: it never expires. */
  expires_at: number | null
  /** Precise to a minute; null: never used. */
  last_used_at: number | null
  access: 'read' | 'write'
  /** The folder of its projects that the key opens, with everything below; `/` is everything. */
  path: string
}

/** The projects that each key opens. */
export interface KeyProjectsTable {
  key_id: string
  project_id: string
}

export interface NodesTable {
  id: string
  project_id: string
  /** Null for the project's root, and for a deleted node that was moved aside (`detached.ts`). */
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

/** Deleted folders whose descendants still wait to be cleared (`detached.ts`). */
export interface DetachedTable {
  project_id: string
  path: string
  /** By the project's clock: every node below `path` whose `modified_at` is not later is deleted. */
  detached_at: number
}

/** Documents of a project, and their bytes with those of table rows (`counted-text.ts`); written by triggers only. */
export interface UsageTable {
  project_id: string
  documents: number
  bytes: number
}

/** One row, repeated in a file beside the contents: it shows that both belong together (`blobs/own-contents.ts`). Embedded only. */
export interface ContentsMarkTable {
  id: string
  starts: number
}

/** Administrative changes that are not in the audit log yet. */
export interface AdministrationTable {
  id: string
  at: number
  /** JSON object. */
  entry: string
}

export type Store = Kysely<Database>
export type ProjectRow = Selectable<ProjectsTable>
export type NodeRow = Selectable<NodesTable>
