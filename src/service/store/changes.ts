// Changes of nodes and contents, by name: the writer runs in another thread, and functions cannot be sent there. Each runs in a
// transaction, which it may share with other changes.

import { type NewFile, createFile } from './create-file.ts'
import type { NodeRow, SmallContentsTable, Store } from './database.ts'
import { type Removal, clearDetached, removeTree } from './detached.ts'
import { addSmall, removeSmall } from './small-contents.ts'
import type { WholeContent } from './postgres/blobs.ts'
import { type Quota, checkQuota } from './usage.ts'

/** Content that is stored in the database, in the same transaction as the node that refers to it. */
type Small = SmallContentsTable

interface Changes {
  createFile(
    store: Store,
    argument: {
      readonly file: NewFile
      readonly now: number
      readonly small?: Small
      /** On PostgreSQL only, where all contents have a row in `blobs`. */
      readonly content?: WholeContent
      readonly quota?: Quota | undefined
    },
  ): Promise<NodeRow>
  removeTree(
    store: Store,
    argument: { readonly projectId: string; readonly path: string; readonly now: number },
  ): Promise<Removal>
  clearDetached(store: Store, argument: object): Promise<string[] | undefined>
  /** For a content whose row follows in another transaction. */
  addSmall(store: Store, content: Small): Promise<void>
  removeSmall(store: Store, argument: { readonly sha256s: readonly string[] }): Promise<string[]>
}

export const changes: Changes = {
  createFile: async (store, { file, now, small, quota }) => {
    if (small !== undefined) await addSmall(store, small)
    const made = await createFile(store, file, now)
    if (quota !== undefined) await checkQuota(store, file.projectId, quota)
    return made
  },
  removeTree: (store, { projectId, path, now }) => removeTree(store, projectId, path, now),
  clearDetached: (store) => clearDetached(store),
  addSmall,
  removeSmall: (store, { sha256s }) => removeSmall(store, sha256s),
}

export type ChangeName = keyof Changes
export type ChangeArgument<Name extends ChangeName> = Parameters<Changes[Name]>[1]
export type ChangeResult<Name extends ChangeName> = Awaited<ReturnType<Changes[Name]>>
