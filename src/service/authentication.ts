// Permissions of the X-API-Key header. A key opens one or more projects, or one folder of each, for reading or also for writing.

import type { FastifyReply, FastifyRequest } from 'fastify'
import type { ServiceContext } from './context.ts'
import { createKeyThrottle } from './edge/throttle.ts'
import { type Limits, limitsFor } from './limits.ts'
import { ServiceError } from './service-error.ts'
import type { ProjectRow } from './store/database.ts'
import { type KeyScope, type OpenedKey, hashOf, keyIdOf } from './store/keys.ts'
import { isAtOrUnder } from '../path.ts'

declare module 'fastify' {
  interface FastifyRequest {
    /** The project the URL names. Set by `authenticate`, so only in routes below it that name one. */
    project: ProjectRow
    /** The limits of that project; set together with it. */
    limits: Limits
    /** All projects that the key opens. */
    projects: readonly ProjectRow[]
    /** The folder of those projects that the key opens, and its access (`read` or `write`). */
    scope: KeyScope
    /** Id of the key for logs, from which the key cannot be computed. */
    keyId: string | undefined
    /** Throws ServiceError 401 if the key was revoked or has expired since: a body may take long to arrive. */
    checkKey: () => Promise<void>
  }
}

/**
 * Returns a hook that throws ServiceError 401 unless the key is valid and gives access to the project in the URL, and 403 if the
 * key does not permit the request. It sets the fields above.
 */
export function authenticate(
  context: ServiceContext,
): (request: FastifyRequest, reply: FastifyReply) => Promise<void> {
  const throttle = createKeyThrottle(context.limits, context.rates)
  return async (request, reply) => {
    const key = request.headers['x-api-key']
    if (typeof key !== 'string' || key === '') throw new ServiceError(401, 'the X-API-Key header is missing')
    const keyHash = hashOf(key)
    const keyId = keyIdOf(keyHash)
    request.keyId = keyId
    throttle(keyId, reply)
    const found = await openedBy(context, keyHash)
    context.keyUse.note(found.id, context.now())
    const { project_name: name } = request.params as { project_name?: string }
    if (name !== undefined) {
      request.project = projectOf(found.projects, name)
      request.limits = limitsFor(context.limits, name)
    }
    const isReading = request.method === 'GET' || request.method === 'HEAD'
    if (found.access === 'read' && !isReading) throw new ServiceError(403, 'the API key may only read')
    // Tables have no path, so none lies in the folder that such a key opens.
    if (found.path !== '/' && request.routeOptions.url?.includes('/tables') === true)
      throw new ServiceError(403, `the API key opens ${found.path} only, and no tables`)
    request.projects = found.projects
    request.scope = found
    request.checkKey = async () => {
      const { projects } = await openedBy(context, keyHash)
      if (name !== undefined) projectOf(projects, name)
    }
  }
}

/** Hook that checks the key again when the body has arrived, which may be long after the first check. Throws ServiceError 401. */
export async function checkKeyAgain(request: FastifyRequest): Promise<void> {
  if (request.body !== undefined && request.body !== null) await request.checkKey()
}

/** Throws ServiceError 401 for a key that is unknown, was revoked, or has expired. */
async function openedBy(context: ServiceContext, keyHash: string): Promise<OpenedKey> {
  const found = await context.keys.find(keyHash)
  if (found === undefined) throw new ServiceError(401, 'the API key is not valid')
  if (found.expiresAt !== null && found.expiresAt <= context.now())
    throw new ServiceError(401, `the API key expired on ${new Date(found.expiresAt).toISOString()}`)
  return found
}

// The interface names no status for a key of another project; 401 is its status for wrong keys. A project that does not exist
// gets the same answer, so that the owner of a key cannot find out the names of other projects.
function projectOf(opened: readonly ProjectRow[], name: string): ProjectRow {
  const project = opened.find((candidate) => candidate.name === name)
  if (project === undefined) throw new ServiceError(401, 'the API key opens no project of this name')
  return project
}

/** Throws ServiceError 403 for a path that the key does not open. */
export function checkScope({ path: opened }: KeyScope, path: string): void {
  if (isAtOrUnder(path, opened)) return
  throw new ServiceError(403, `the API key opens ${opened} only`)
}

/**
 * For a folder above the one that the key gives access to: returns the name of the child that leads there, whether it exists or
 * not; all other children are hidden from the key. Undefined for any other folder.
 */
export function onlyWayTo({ path: opened }: KeyScope, folder: string): string | undefined {
  const above = folder === '/' ? '/' : `${folder}/`
  return opened === '/' || !opened.startsWith(above) ? undefined : opened.slice(above.length).split('/')[0]
}
