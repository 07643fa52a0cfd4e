// A project's end: nobody can reach it at once, then everything in it goes, in batches between which others are served.
// What a crash leaves has no key any more; removing it again goes on.

import { setTimeout as sleep } from 'node:timers/promises'
import type { Store } from '../store/database.ts'
import { revokeKeys } from '../store/keys.ts'
import { isCollision, isReferenceViolation } from '../store/transact.ts'
import { tablesStore } from '../tables/database.ts'

const batchRows = 1_000
/** Some minutes, for uploads that had begun. */
const maxPasses = 10_000
const pauseMs = 20

export async function removeProject(
  store: Store,
  projectId: string,
  collect: (sha256s: string[]) => void,
): Promise<void> {
  await revokeKeys(store, projectId)
  for (let pass = 1; ; pass++) {
    try {
      await removeTables(store, projectId, collect)
      await removeNodes(store, projectId, collect)
      await store.deleteFrom('detached').where('project_id', '=', projectId).execute()
      await store.deleteFrom('projects').where('id', '=', projectId).execute()
      return
    } catch (error) {
      // Whoever was let in before may add something until the project itself is gone.
      const isMet = isReferenceViolation(error) || isCollision(error)
      if (!isMet || pass === maxPasses) throw error
      await sleep(pauseMs)
    }
  }
}

// Children lie behind their folders in the order of paths, so that no node goes before what is below it.
async function removeNodes(
  store: Store,
  projectId: string,
  collect: (sha256s: string[]) => void,
): Promise<void> {
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

async function removeTables(
  store: Store,
  projectId: string,
  collect: (sha256s: string[]) => void,
): Promise<void> {
  const tables = tablesStore(store)
  const own = tables.selectFrom('tables').select('id').where('project_id', '=', projectId)
  for (const kind of ['assets', 'runs'] as const) {
    for (;;) {
      const some = tables.selectFrom(kind).select('id').where('table_id', 'in', own).limit(batchRows)
      const removed = await tables.deleteFrom(kind).where('id', 'in', some).returning('id').execute()
      if (removed.length === 0) break
    }
  }
  const documents = await tables
    .deleteFrom('documents')
    .where('project_id', '=', projectId)
    .returning('blob')
    .execute()
  collect(documents.flatMap(({ blob }) => blob ?? []))
  await tables.deleteFrom('tables').where('project_id', '=', projectId).execute()
}
