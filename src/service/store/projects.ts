// Projects: listed, found and created.

import { randomUUID } from 'node:crypto'
import { StartError } from '../start-error.ts'
import type { ProjectRow, Store } from './database.ts'
import { transact } from './transact.ts'

/** All projects, in the order of their names. */
export function listProjects(store: Store): Promise<ProjectRow[]> {
  return store.selectFrom('projects').selectAll().orderBy('name').execute()
}

export function findProject(store: Store, name: string): Promise<ProjectRow | undefined> {
  return store.selectFrom('projects').selectAll().where('name', '=', name).executeTakeFirst()
}

export async function projectNameOf(store: Store, id: string): Promise<string | undefined> {
  const found = await store.selectFrom('projects').select('name').where('id', '=', id).executeTakeFirst()
  return found?.name
}

/** Throws a StartError on a name that cannot be a segment of a URL. */
export function checkProjectName(name: string): void {
  // oxlint-disable-next-line no-control-regex -- control characters are what is looked for
  if (!/^[^/\u0000-\u001f\u007f]{1,255}$/u.test(name) || name === '.' || name === '..') {
    throw new StartError(`not a project name: ${JSON.stringify(name)} (1 to 255 characters, no slash)`)
  }
}

/** Returns the project, created with an empty root folder if missing. Throws as `checkProjectName`. */
export async function ensureProject(
  store: Store,
  name: string,
  now: number,
): Promise<{ project: ProjectRow; isNew: boolean }> {
  checkProjectName(name)
  const known = await findProject(store, name)
  if (known !== undefined) return { project: known, isNew: false }
  return transact(store, async (transaction) => {
    const project = { id: randomUUID(), name, created_at: now, clock_ms: 0 }
    const made = await transaction
      .insertInto('projects')
      .values(project)
      .onConflict((conflict) => conflict.column('name').doNothing())
      .returningAll()
      .executeTakeFirst()
    if (made === undefined) {
      const known = await transaction
        .selectFrom('projects')
        .selectAll()
        .where('name', '=', name)
        .executeTakeFirstOrThrow()
      return { project: known, isNew: false }
    }
    await transaction
      .insertInto('nodes')
      .values({
        id: randomUUID(),
        project_id: project.id,
        parent_id: null,
        name: '/',
        path: '/',
        kind: 'folder',
        modified_at: now,
        size: null,
        mimetype: null,
        blob: null,
      })
      .execute()
    return { project: made, isNew: true }
  })
}
