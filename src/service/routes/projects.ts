// GET /projects.

import type { FastifyInstance } from 'fastify'
import { Type } from '../json-schema.ts'
import { type ProjectBody, projectSchema } from '../schemas.ts'

/** Registers the route in a scope that authenticates. */
export function registerProjects(scope: FastifyInstance): void {
  scope.get(
    '/projects',
    {
      schema: {
        summary: 'The projects the key opens',
        response: { 200: Type.Array(projectSchema) },
      },
    },
    (request): ProjectBody[] =>
      request.projects.map(({ id, name, created_at }) => ({
        id,
        name,
        created_at: new Date(created_at).toISOString(),
      })),
  )
}
