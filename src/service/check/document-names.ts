// The names, for people, of the documents that have a content.

import type { Store } from '../store/database.ts'
import { tablesStore } from '../tables/database.ts'

/** PROJECT/PATH of files, PROJECT: NAME of documents in storage tables. Empty when no document has the content any more. */
export async function documentsWith(store: Store, sha256: string): Promise<string[]> {
  const files = await store
    .selectFrom('nodes')
    .innerJoin('projects', 'projects.id', 'nodes.project_id')
    .select(['projects.name as project', 'nodes.path'])
    .where('nodes.blob', '=', sha256)
    .execute()
  const inTables = await tablesStore(store)
    .selectFrom('documents')
    .innerJoin('projects', 'projects.id', 'documents.project_id')
    .select(['projects.name as project', 'documents.filename'])
    .where('documents.blob', '=', sha256)
    .execute()
  return [
    ...files.map(({ project, path }) => `${project}${path}`),
    ...inTables.map(({ project, filename }) => `${project}: ${filename}`),
  ].toSorted()
}
