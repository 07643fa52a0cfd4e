// Changes of nodes and contents, by name: the writer is a thread of its own, and functions do not travel. Each runs
// in a transaction, of which it may be one part among others.

import { type NewFile, createFile } from './create-file.ts'
import type { NodeRow, SmallContentsTable, Store } from './database.ts'
import { type Removal, clearDetached, removeTree } from './detached.ts'
import { addSmall, removeSmall } from './small-contents.ts'
import type { WholeContent } from './postgres/blobs.ts'
import { type Quota, checkQuota } from './usage.ts'

/** Content that is kept in the database, in the same transaction as what refers to it. */
type Small = SmallContentsTable

interface Changes {
  createFile(
    store: Store,
    is: {
      readonly file: NewFile
      readonly now: number
      readonly small?: Small
      /** Where contents have a table of their own. */
      readonly content?: WholeContent
      readonly quota?: Quota | undefined
    },
  ): Promise<NodeRow[]>
  removeTree(
    store: Store,
    is: { readonly projectId: string; readonly path: string; readonly now: number },
  ): Promise<Removal>
  clearDetached(store: Store, is: object): Promise<string[] | undefined>
  addSmall(store: Store, is: Small): Promise<void>
  removeSmall(store: Store, is: { readonly sha256s: readonly string[] }): Promise<string[]>
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
