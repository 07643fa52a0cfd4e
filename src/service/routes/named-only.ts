// Endpoints that the interface names without describing them: nothing can be implemented, and a 501 says more than a 404.

import type { FastifyInstance } from 'fastify'
import { errorSchema } from '../schemas.ts'
import { ServiceError } from '../service-error.ts'

export function registerNamedOnly(scope: FastifyInstance): void {
  for (const url of ['/extract', '/run', '/run/:run_id']) {
    scope.all(url, { schema: { hide: true, response: { 501: errorSchema } } }, (request) => {
      throw new ServiceError(
        501,
        `${request.method} ${url}: the interface names this endpoint without describing it`,
      )
    })
  }
}
