// API keys: stored as hashes, shown once when made. Permissions are checked in `authentication.ts`.

import { hash, randomBytes } from 'node:crypto'
import type { Database, ProjectRow, Store } from './database.ts'
import { prepared } from './prepared.ts'
import { transact } from './transact.ts'
import type { Selectable, Transaction } from './kysely.ts'

type KeyRow = Selectable<Database['api_keys']>

/** The access that a key gives, and the folder of its projects that it opens. */
export interface KeyScope {
  readonly access: KeyRow['access']
  /** `/` for everything. */
  readonly path: string
}

export interface NewKey extends Partial<KeyScope> {
  readonly projectIds: readonly string[]
  readonly name?: string | undefined
  readonly expiresAt?: number | undefined
}

/** A new key. The store keeps only its hash, so it is never shown again. */
export interface MadeKey {
  readonly id: string
  readonly key: string
}

/** A key in a listing, with the names of its projects. */
export type KeyInfo = Omit<KeyRow, 'hash'> & { readonly projects: readonly string[] }

export function createKey(store: Store, wanted: NewKey, now: number): Promise<MadeKey> {
  return transact(store, (transaction) => addKey(transaction, wanted, now))
}

async function addKey(transaction: Transaction<Database>, wanted: NewKey, now: number): Promise<MadeKey> {
  const key = `dmk_${randomBytes(32).toString('base64url')}`
  const keyHash = hashOf(key)
  const id = keyIdOf(keyHash)
  await transaction
    .insertInto('api_keys')
    .values({
      id,
      hash: keyHash,
      name: wanted.name ?? null,
      created_at: now,
      expires_at: wanted.expiresAt ?? null,
      last_used_at: null,
      access: wanted.access ?? 'write',
      path: wanted.path ?? '/',
    })
    .execute()
  for (const projectId of wanted.projectIds)
    await transaction.insertInto('key_projects').values({ key_id: id, project_id: projectId }).execute()
  return { id, key }
}

/** The key of a request, with its scope and its projects (at least one). */
export interface OpenedKey extends KeyScope {
  readonly id: string
  readonly expiresAt: number | null
  readonly lastUsedAt: number | null
  readonly projects: readonly ProjectRow[]
}

/** Undefined for an unknown key. Keys are 256 random bits, so the time of an index lookup by hash reveals nothing. */
export async function findKey(store: Store, keyHash: string): Promise<OpenedKey | undefined> {
  const rows = await selectByKey(store, { hash: keyHash })
  const [first] = rows
  if (first === undefined) return undefined
  return {
    id: first.key_id,
    access: first.access,
    path: first.path,
    expiresAt: first.expires_at,
    lastUsedAt: first.last_used_at,
    projects: rows.map(({ id, name, created_at, clock_ms }) => ({ id, name, created_at, clock_ms })),
  }
}
const selectByKey = prepared((store, params: { hash: string }) =>
  store
    .selectFrom('api_keys')
    .innerJoin('key_projects', 'key_projects.key_id', 'api_keys.id')
    .innerJoin('projects', 'projects.id', 'key_projects.project_id')
    .selectAll('projects')
    .select(['api_keys.id as key_id', 'access', 'path', 'expires_at', 'last_used_at'])
    .where('api_keys.hash', '=', params.hash)
    .orderBy('projects.name'),
)

export async function noteKeyUsed(store: Store, id: string, now: number): Promise<void> {
  await store.updateTable('api_keys').set({ last_used_at: now }).where('id', '=', id).execute()
}

/** The keys of one project, or all keys, oldest first. */
export async function listKeys(store: Store, projectId?: string): Promise<KeyInfo[]> {
  const rows = await store
    .selectFrom('api_keys')
    .innerJoin('key_projects', 'key_projects.key_id', 'api_keys.id')
    .innerJoin('projects', 'projects.id', 'key_projects.project_id')
    .selectAll('api_keys')
    .select(['projects.name as project', 'projects.id as project_id'])
    .orderBy('api_keys.created_at')
    .orderBy('projects.name')
    .execute()
  const keys = new Map<string, KeyInfo & { readonly projects: string[] }>()
  const wanted = new Set<string>()
  for (const { hash: _, project, project_id, ...key } of rows) {
    const known = keys.get(key.id)
    if (known === undefined) keys.set(key.id, { ...key, projects: [project] })
    else known.projects.push(project)
    if (projectId === undefined || project_id === projectId) wanted.add(key.id)
  }
  return [...keys.values()].filter(({ id }) => wanted.has(id))
}

/**
 * Makes a key with the same rights; the old one expires at `endsAt`, unless it expires sooner. Undefined for an unknown or expired
 * key.
 */
export function rotateKey(
  store: Store,
  id: string,
  endsAt: number,
  now: number,
): Promise<MadeKey | undefined> {
  return transact(store, async (transaction) => {
    const old = await transaction.selectFrom('api_keys').selectAll().where('id', '=', id).executeTakeFirst()
    // The new key has the old expiry, so it would open nothing.
    if (old === undefined || (old.expires_at !== null && old.expires_at <= now)) return undefined
    const projects = await transaction
      .selectFrom('key_projects')
      .select('project_id')
      .where('key_id', '=', id)
      .execute()
    const made = await addKey(
      transaction,
      {
        projectIds: projects.map(({ project_id }) => project_id),
        name: old.name ?? undefined,
        expiresAt: old.expires_at ?? undefined,
        access: old.access,
        path: old.path,
      },
      now,
    )
    await transaction
      .updateTable('api_keys')
      .set({ expires_at: Math.min(endsAt, old.expires_at ?? endsAt) })
      .where('id', '=', id)
      .execute()
    return made
  })
}

/**
 * Removes a project from the keys of these ids, or from all keys that open it. Returns the ids of the changed keys; a key
 * without another project is deleted.
 */
export function revokeKeys(store: Store, projectId: string, ids?: readonly string[]): Promise<string[]> {
  return transact(store, async (transaction) => {
    let query = transaction.deleteFrom('key_projects').where('project_id', '=', projectId)
    if (ids !== undefined) query = query.where('key_id', 'in', ids)
    const changed = (await query.returning('key_id').execute()).map((row) => row.key_id)
    if (changed.length === 0) return []
    await transaction
      .deleteFrom('api_keys')
      .where('id', 'in', changed)
      .where('id', 'not in', transaction.selectFrom('key_projects').select('key_id'))
      .execute()
    return changed
  })
}

/** The public id of a key: the first 12 hexadecimal digits of its hash. */
export function keyIdOf(keyHash: string): string {
  return keyHash.slice(0, 12)
}

export function hashOf(key: string): string {
  return hash('sha256', key, 'hex')
}
