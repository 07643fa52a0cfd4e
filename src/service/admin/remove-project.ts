// Removes a project: first its keys, so that it cannot be used any more, then all its rows, in batches, so that other requests
// are served in between. After a crash in the middle, removing it again finishes the work.

import type { Store } from '../store/database.ts'
import { revokeKeys } from '../store/keys.ts'
import { tablesStore } from '../tables/database.ts'
import { type Collect, oneByOne, removeRowsOf, untilGone } from '../tables/remove-tables.ts'

const batchRows = 1_000

export async function removeProject(store: Store, projectId: string, collect: Collect): Promise<void> {
  await revokeKeys(store, projectId)
  // Requests that were admitted before may add rows until the project itself is removed.
  await untilGone(async () => {
    await removeTables(store, projectId, collect)
    await removeNodes(store, projectId, collect)
    // Records of deleted folders, whose nodes are gone now.
    await store.deleteFrom('detached').where('project_id', '=', projectId).execute()
    await store.deleteFrom('projects').where('id', '=', projectId).execute()
  })
}

// A folder comes before its children in the order of paths, so the descending order removes children first.
async function removeNodes(store: Store, projectId: string, collect: Collect): Promise<void> {
  for (;;) {
    const last = store
      .selectFrom('nodes')
      .select('id')
      .where('project_id', '=', projectId)
      .orderBy('path', 'desc')
      .limit(batchRows)
    const removed = await store.deleteFrom('nodes').where('id', 'in', last).returning('blob').execute()
    if (removed.length === 0) return
    collect(removed.flatMap(({ blob }) => blob ?? []))
  }
}

async function removeTables(store: Store, projectId: string, collect: Collect): Promise<void> {
  const tables = tablesStore(store)
  for (;;) {
    const some = await tables
      .selectFrom('tables')
      .select('id')
      .where('project_id', '=', projectId)
      .limit(batchRows)
      .execute()
    if (some.length === 0) return
    const ids = some.map(({ id }) => id)
    await removeRowsOf(ids, collect, oneByOne(store))
    await tables.deleteFrom('tables').where('id', 'in', ids).execute()
  }
}
