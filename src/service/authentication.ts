// X-API-Key: who may do what. A key opens one project or several, all of it or one folder, for reading or for writing too.

import type { FastifyReply, FastifyRequest } from 'fastify'
import type { ServiceContext } from './context.ts'
import { createKeyThrottle } from './edge/throttle.ts'
import { ServiceError } from './service-error.ts'
import type { ProjectRow } from './store/database.ts'
import { type KeyScope, hashOf, keyIdOf } from './store/keys.ts'
import { findProject } from './store/projects.ts'
import { isAtOrUnder } from '../path.ts'

declare module 'fastify' {
  interface FastifyRequest {
    /** The project the URL names. Set by `authenticate`, so only in routes below it that name one. */
    project: ProjectRow
    /** All the key opens. */
    projects: readonly ProjectRow[]
    /** What of them. */
    scope: KeyScope
    /** Names the key without giving it away. */
    keyId: string | undefined
  }
}

/** A hook that throws ServiceError 401 unless the key is valid and opens the project the URL names, 403 where it may only read. */
export function authenticate(
  context: ServiceContext,
): (request: FastifyRequest, reply: FastifyReply) => Promise<void> {
  const throttle = createKeyThrottle(context.limits, context.rates)
  return async (request, reply) => {
    const key = request.headers['x-api-key']
    if (typeof key !== 'string' || key === '') throw new ServiceError(401, 'the X-API-Key header is missing')
    const keyHash = hashOf(key)
    const keyId = keyIdOf(keyHash)
    throttle(keyId, reply)
    const found = await context.keys.find(keyHash)
    if (found === undefined) throw new ServiceError(401, 'the API key is not valid')
    const now = context.now()
    if (found.expiresAt !== null && found.expiresAt <= now)
      throw new ServiceError(401, `the API key expired on ${new Date(found.expiresAt).toISOString()}`)
    context.keyUse.note(found.id, now)
    const { project_name: name } = request.params as { project_name?: string }
    if (name !== undefined) request.project = await projectOf(context, found.projects, name)
    const isReading = request.method === 'GET' || request.method === 'HEAD'
    if (found.access === 'read' && !isReading) throw new ServiceError(403, 'the API key may only read')
    // Tables lie beside the files: no path leads there.
    if (found.path !== '/' && request.routeOptions.url?.includes('/tables') === true)
      throw new ServiceError(403, `the API key opens ${found.path} only, and no tables`)
    request.projects = found.projects
    request.scope = found
    request.keyId = keyId
  }
}

async function projectOf(
  context: ServiceContext,
  opened: readonly ProjectRow[],
  name: string,
): Promise<ProjectRow> {
  const project = opened.find((one) => one.name === name)
  if (project !== undefined) return project
  const exists = (await findProject(context.store, name)) !== undefined
  // The interface names no status for a key of another project; 401 is the one it has for keys.
  if (exists) throw new ServiceError(401, 'the API key belongs to another project')
  throw new ServiceError(404, `there is no project ${name}`)
}

/** Throws ServiceError 403 for a path the key does not open. */
export function checkScope({ path: opened }: KeyScope, path: string): void {
  if (isAtOrUnder(path, opened)) return
  throw new ServiceError(403, `the API key opens ${opened} only`)
}

/** The one child of a folder above what the key opens that leads there; undefined where the folder is none of those. */
export function onlyWayTo({ path: opened }: KeyScope, folder: string): string | undefined {
  const above = folder === '/' ? '/' : `${folder}/`
  return opened === '/' || !opened.startsWith(above) ? undefined : opened.slice(above.length).split('/')[0]
}
