// Administration that needs no API key: makes and removes projects and keys, removes tables and runs. It works on the database
// in the process of a running service (`socket.ts`), and of the command line where no service runs (`reach-admin.ts`).

import { ExpectedError } from '../../expected-error.ts'
import type { Store } from '../store/database.ts'
import { type KeyInfo, createKey, listKeys, revokeKeys, rotateKey } from '../store/keys.ts'
import { ensureProject, findProject, listProjects } from '../store/projects.ts'
import { StartError } from '../start-error.ts'
import { parseDocumentPath } from '../document-path.ts'
import { tablesStore } from '../tables/database.ts'
import { type Collect, oneByOne, removeRuns, removeTable } from '../tables/remove-tables.ts'
import { findTable, listTableIds } from '../tables/tables-store.ts'
import { noteChange } from './administration.ts'
import { removeProject } from './remove-project.ts'

/** An administrative call with an invalid argument, or about something that does not exist. */
export class AdminError extends ExpectedError {
  override readonly name = 'AdminError'
}

const endOfTimeMs = Date.UTC(10_000, 0)
const maxNameChars = 255

export interface WantedKey {
  readonly projects: readonly string[]
  readonly name?: string | undefined
  /** Milliseconds since the epoch. */
  readonly expiresAt?: number | undefined
  readonly isReadOnly?: boolean | undefined
  /** The folder or document that the key gives access to; absent: everything. */
  readonly path?: string | undefined
}

/** The runs to remove. Without any field: all of the project. */
export interface WantedRuns {
  /** Name or id. */
  readonly table?: string | undefined
  readonly olderThanMs?: number | undefined
}

/** A new key. `key` cannot be shown again: only its hash is stored. */
export interface ShownKey {
  readonly id: string
  readonly key: string
}

/** Every call may throw an AdminError. */
export interface Admin {
  listProjects(): Promise<
    readonly { readonly name: string; readonly id: string; readonly createdAt: number }[]
  >
  createProject(name: string): Promise<ShownKey>
  /** Removes a project with everything in it. Keys that also open other projects keep these. */
  removeProject(name: string): Promise<void>
  /** Returns the keys of one project, or of all. */
  listKeys(project?: string): Promise<readonly KeyInfo[]>
  createKey(wanted: WantedKey): Promise<ShownKey>
  /** Makes a key with the rights of key `id`; the old one expires after `overlapMs`. */
  rotateKey(id: string, overlapMs: number): Promise<ShownKey>
  /** Removes a table, by name or id, with everything in it. */
  removeTable(project: string, table: string): Promise<void>
  /** Removes runs and tasks; returns how many. */
  removeRuns(project: string, of: WantedRuns): Promise<number>
  /** Revokes the keys with these ids, or all keys of the project where there are none; returns the ids of revoked keys. */
  revokeKeys(project: string, ids: readonly string[]): Promise<readonly string[]>
}

/** Names of all calls: the socket passes on these, and no others. */
export const adminCalls: readonly (keyof Admin)[] = [
  'listProjects',
  'createProject',
  'removeProject',
  'listKeys',
  'createKey',
  'rotateKey',
  'revokeKeys',
  'removeTable',
  'removeRuns',
]

/**
 * Returns the administration. `by`: name of the user, for the audit log. `collect` is called with contents that lost a reference;
 * if no service runs, it may do nothing, because the next start finds them. Every change is recorded for the audit log.
 */
export function createAdmin(store: Store, now: () => number, collect: Collect, by: string): Admin {
  const note = (change: string, details: object): Promise<void> =>
    noteChange(store, { change, by, ...details }, now())
  const idOf = async (name: string): Promise<string> => {
    const project = await findProject(store, name)
    if (project === undefined)
      throw new AdminError(
        `there is no project ${name}: docmount projects list shows them, docmount projects create makes one`,
      )
    return project.id
  }
  const tableOf = async (project: string, nameOrId: string): Promise<{ id: string; name: string }> => {
    const table = await findTable(tablesStore(store), await idOf(project), nameOrId)
    if (table === undefined) throw new AdminError(`${project} has no table ${nameOrId}`)
    return table
  }
  return {
    listProjects: async () =>
      (await listProjects(store)).map(({ id, name, created_at }) => ({ id, name, createdAt: created_at })),
    createProject: async (name) => {
      const { project, isNew } = await ensureProject(store, name, now()).catch((error: unknown) => {
        throw error instanceof StartError ? new AdminError(error.message) : error
      })
      if (!isNew) throw new AdminError(`there is a project ${name} already`)
      const made = await createKey(store, { projectIds: [project.id] }, now())
      await note('project made', { project: name, keys: [made.id] })
      return made
    },
    removeProject: async (name) => {
      await removeProject(store, await idOf(name), collect)
      await note('project removed', { project: name })
    },
    listKeys: async (project) => listKeys(store, project === undefined ? undefined : await idOf(project)),
    createKey: async (wanted) => {
      if (wanted.projects.length === 0) throw new AdminError('a key opens one project at least')
      if (wanted.expiresAt !== undefined) checkExpiry(wanted.expiresAt, now())
      if (wanted.name !== undefined) checkName(wanted.name)
      const projectIds: string[] = []
      for (const project of new Set(wanted.projects)) projectIds.push(await idOf(project))
      const { name, expiresAt, isReadOnly } = wanted
      const access = isReadOnly === true ? 'read' : 'write'
      const path = pathOf(wanted.path)
      const made = await createKey(store, { projectIds, name, expiresAt, access, path }, now())
      const expires = expiresAt === undefined ? {} : { expires: new Date(expiresAt).toISOString() }
      await note('key made', { projects: wanted.projects, keys: [made.id], name, access, path, ...expires })
      return made
    },
    rotateKey: async (id, overlapMs) => {
      checkExpiry(now() + overlapMs, 0)
      const made = await rotateKey(store, id, now() + overlapMs, now())
      if (made === undefined) throw new AdminError(`there is no key ${id}, or it has expired`)
      await note('key rotated', { keys: [made.id], instead_of: id })
      return made
    },
    revokeKeys: async (project, ids) => {
      const revoked = await revokeKeys(store, await idOf(project), ids.length === 0 ? undefined : ids)
      if (revoked.length > 0) await note('keys revoked', { project, keys: revoked })
      return revoked
    },
    removeTable: async (project, nameOrId) => {
      const table = await tableOf(project, nameOrId)
      await removeTable(store, table.id, collect)
      await note('table removed', { project, table: table.name })
    },
    removeRuns: async (project, { table, olderThanMs }) => {
      const projectId = await idOf(project)
      const ids =
        table === undefined
          ? await listTableIds(tablesStore(store), projectId)
          : [(await tableOf(project, table)).id]
      const before = olderThanMs === undefined ? undefined : now() - olderThanMs
      let runs = 0
      for (const id of ids) runs += await removeRuns({ tables: [id], before }, oneByOne(store))
      if (runs > 0) await note('runs removed', { project, table, runs })
      // Runs refer to no content; the call makes the service shrink its database.
      collect([])
      return runs
    },
  }
}

/** A time after the year 9999 has no ISO 8601 form that lists could show. */
function checkExpiry(expiresAt: number, now: number): void {
  if (expiresAt <= now) throw new AdminError('the key would have expired already')
  if (!(expiresAt < endOfTimeMs))
    throw new AdminError('the key would expire after the year 9999: leave it out')
}

/** Names are printed on terminals, which obey control characters. */
function checkName(name: string): void {
  if (name.length > maxNameChars || /\p{Cc}/u.test(name))
    throw new AdminError(
      `the name of a key has at most ${maxNameChars} characters, none of them a control character`,
    )
}

function pathOf(text: string | undefined): string {
  // An empty path comes from an unset variable of a shell; such a key would open everything.
  if (text === '') throw new AdminError('the path is empty: leave it out for a key that opens everything')
  try {
    return parseDocumentPath(text?.replace(/(?<=[^/])\/$/, ''))
  } catch (error) {
    throw new AdminError(error instanceof Error ? error.message : String(error))
  }
}
