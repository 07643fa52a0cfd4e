// Projects, and the keys that open them.

import { createHash, randomBytes, randomUUID } from 'node:crypto'
import { StartError } from '../start-error.ts'
import type { ProjectRow, Store } from './database.ts'
import { prepared } from './prepared.ts'
import { transact } from './transact.ts'

/** Every project, by name. */
export function listProjects(store: Store): Promise<ProjectRow[]> {
  return store.selectFrom('projects').selectAll().orderBy('name').execute()
}

export function findProject(store: Store, name: string): Promise<ProjectRow | undefined> {
  return store.selectFrom('projects').selectAll().where('name', '=', name).executeTakeFirst()
}

/** The project with its empty root folder, made where missing. Throws a StartError on a name that fits no URL. */
export async function ensureProject(
  store: Store,
  name: string,
  now: number,
): Promise<{ project: ProjectRow; isNew: boolean }> {
  // oxlint-disable-next-line no-control-regex -- control characters are what is looked for
  if (!/^[^/\u0000-\u001f\u007f]{1,255}$/u.test(name) || name === '.' || name === '..') {
    throw new StartError(`not a project name: ${JSON.stringify(name)} (1 to 255 characters, no slash)`)
  }
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

/** A fresh key for the project: the only time it is seen. */
export async function createKey(store: Store, projectId: string, now: number): Promise<string> {
  const key = `dmk_${randomBytes(32).toString('base64url')}`
  const hash = hashOf(key)
  await store
    .insertInto('api_keys')
    .values({ id: hash.slice(0, 12), hash, project_id: projectId, created_at: now })
    .execute()
  return key
}

/** The project a key opens. Keys are 256 random bits, so an index lookup by hash tells an attacker nothing. */
export async function findProjectByKey(store: Store, key: string): Promise<ProjectRow | undefined> {
  return (await selectByKey(store, { hash: hashOf(key) }))[0]
}
const selectByKey = prepared((store, is: { hash: string }) =>
  store
    .selectFrom('api_keys')
    .innerJoin('projects', 'projects.id', 'api_keys.project_id')
    .selectAll('projects')
    .where('api_keys.hash', '=', is.hash),
)

export function listKeys(store: Store, projectId: string): Promise<{ id: string; created_at: number }[]> {
  return store
    .selectFrom('api_keys')
    .select(['id', 'created_at'])
    .where('project_id', '=', projectId)
    .orderBy('created_at')
    .execute()
}

/** Revokes the keys of these ids, or all of the project's; answers the ids revoked. */
export async function revokeKeys(
  store: Store,
  projectId: string,
  ids?: readonly string[],
): Promise<string[]> {
  let query = store.deleteFrom('api_keys').where('project_id', '=', projectId)
  if (ids !== undefined) query = query.where('id', 'in', ids)
  const revoked = await query.returning('id').execute()
  return revoked.map((row) => row.id)
}

/** The id a key is listed under. */
export function keyIdOf(key: string): string {
  return hashOf(key).slice(0, 12)
}

function hashOf(key: string): string {
  return createHash('sha256').update(key).digest('hex')
}
