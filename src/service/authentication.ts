// X-API-Key: who may do what. A key opens one project.

import type { FastifyReply, FastifyRequest } from 'fastify'
import type { ServiceContext } from './context.ts'
import { createKeyThrottle } from './edge/throttle.ts'
import { ServiceError } from './service-error.ts'
import type { ProjectRow } from './store/database.ts'
import { findProject, findProjectByKey, keyIdOf } from './store/projects.ts'

declare module 'fastify' {
  interface FastifyRequest {
    /** The project the request's key opens. Set by `authenticate`, so only in routes below it. */
    project: ProjectRow
    /** Names the key without giving it away. */
    keyId: string | undefined
  }
}

/** A hook that throws ServiceError 401 unless the key is valid and opens the project the URL names. */
export function authenticate(
  context: ServiceContext,
): (request: FastifyRequest, reply: FastifyReply) => Promise<void> {
  const throttle = createKeyThrottle(context.limits)
  return async (request, reply) => {
    const key = request.headers['x-api-key']
    if (typeof key !== 'string' || key === '') throw new ServiceError(401, 'the X-API-Key header is missing')
    const keyId = keyIdOf(key)
    throttle(keyId, reply)
    const project = await findProjectByKey(context.store, key)
    if (project === undefined) throw new ServiceError(401, 'the API key is not valid')
    const { project_name: name } = request.params as { project_name?: string }
    if (name !== undefined && name !== project.name) {
      const exists = (await findProject(context.store, name)) !== undefined
      // The interface names no status for a key of another project; 401 is the one it has for keys.
      if (exists) throw new ServiceError(401, 'the API key belongs to another project')
      throw new ServiceError(404, `there is no project ${name}`)
    }
    request.project = project
    request.keyId = keyId
  }
}
