// What whoever runs a service may do beside HTTP's keys: projects and keys. The same for a service that runs (through its
// socket) and for a data folder nobody serves.

import type { Store } from '../store/database.ts'
import { type KeyInfo, createKey, listKeys, revokeKeys, rotateKey } from '../store/keys.ts'
import { ensureProject, findProject, listProjects } from '../store/projects.ts'
import { StartError } from '../start-error.ts'
import { parseDocumentPath } from '../document-path.ts'
import { removeProject } from './remove-project.ts'

/** Asked for something that is not there, or makes no sense. */
export class AdminError extends Error {
  override readonly name = 'AdminError'
}

const lastMs = Date.UTC(10_000, 0)
const maxNameChars = 255

export interface WantedKey {
  readonly projects: readonly string[]
  readonly name?: string | undefined
  /** Milliseconds since the epoch. */
  readonly expiresAt?: number | undefined
  readonly isReadOnly?: boolean | undefined
  /** A folder or a document; everything where absent. */
  readonly path?: string | undefined
}

/** `key` is shown this once. */
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
  /** With everything in it; what its keys open beside it stays open to them. */
  removeProject(name: string): Promise<void>
  /** Of one project, or of all. */
  listKeys(project?: string): Promise<readonly KeyInfo[]>
  createKey(wanted: WantedKey): Promise<ShownKey>
  /** A key for the same, while the old one goes on for `overlapMs`. */
  rotateKey(id: string, overlapMs: number): Promise<ShownKey>
  /** All that open the project where no ids are given; answers those revoked. */
  revokeKeys(project: string, ids: readonly string[]): Promise<readonly string[]>
}

export const adminCalls: readonly (keyof Admin)[] = [
  'listProjects',
  'createProject',
  'removeProject',
  'listKeys',
  'createKey',
  'rotateKey',
  'revokeKeys',
]

/** `collect` is told of content that lost its last reference; where nobody serves, the next start looks for it. */
export function adminOver(store: Store, now: () => number, collect: (sha256s: string[]) => void): Admin {
  const idOf = async (name: string): Promise<string> => {
    const project = await findProject(store, name)
    if (project === undefined)
      throw new AdminError(
        `there is no project ${name}: docmount projects list shows them, docmount projects create makes one`,
      )
    return project.id
  }
  return {
    listProjects: async () =>
      (await listProjects(store)).map(({ id, name, created_at }) => ({ id, name, createdAt: created_at })),
    createProject: async (name) => {
      const { project, isNew } = await ensureProject(store, name, now()).catch((error: unknown) => {
        throw error instanceof StartError ? new AdminError(error.message) : error
      })
      if (!isNew) throw new AdminError(`there is a project ${name} already`)
      return createKey(store, { projectIds: [project.id] }, now())
    },
    removeProject: async (name) => removeProject(store, await idOf(name), collect),
    listKeys: async (project) => listKeys(store, project === undefined ? undefined : await idOf(project)),
    createKey: async (wanted) => {
      if (wanted.projects.length === 0) throw new AdminError('a key opens one project at least')
      if (wanted.expiresAt !== undefined) checkExpiry(wanted.expiresAt, now())
      if (wanted.name !== undefined) checkName(wanted.name)
      const projectIds: string[] = []
      for (const project of new Set(wanted.projects)) projectIds.push(await idOf(project))
      const { name, expiresAt, isReadOnly } = wanted
      const access = isReadOnly === true ? 'read' : 'write'
      return createKey(store, { projectIds, name, expiresAt, access, path: pathOf(wanted.path) }, now())
    },
    rotateKey: async (id, overlapMs) => {
      checkExpiry(now() + overlapMs, 0)
      const made = await rotateKey(store, id, now() + overlapMs, now())
      if (made === undefined) throw new AdminError(`there is no key ${id}, or it has expired`)
      return made
    },
    revokeKeys: async (project, ids) =>
      revokeKeys(store, await idOf(project), ids.length === 0 ? undefined : ids),
  }
}

/** Later than any time that can be written is no time: lists could not show it. */
function checkExpiry(expiresAt: number, now: number): void {
  if (expiresAt <= now) throw new AdminError('the key would have expired already')
  if (!(expiresAt < lastMs)) throw new AdminError('the key would expire after the year 9999: leave it out')
}

/** It is shown on terminals. */
function checkName(name: string): void {
  if (name.length > maxNameChars || /\p{Cc}/u.test(name))
    throw new AdminError(
      `the name of a key has at most ${maxNameChars} characters, none of them a control character`,
    )
}

function pathOf(text: string | undefined): string {
  // A variable that is not set would open everything.
  if (text === '') throw new AdminError('the path is empty: leave it out for a key that opens everything')
  try {
    return parseDocumentPath(text?.replace(/(?<=[^/])\/$/, ''))
  } catch (error) {
    throw new AdminError(error instanceof Error ? error.message : String(error))
  }
}
