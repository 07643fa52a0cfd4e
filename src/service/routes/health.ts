// GET /health: the process runs. GET /ready: it can use its store, and is not closing. For load balancers, without a key.

import type { FastifyInstance } from 'fastify'
import { sql } from '../store/kysely.ts'
import type { ServiceContext } from '../context.ts'
import { ServiceError } from '../service-error.ts'

export function registerHealth(scope: FastifyInstance, context: ServiceContext): void {
  scope.get('/health', { schema: { hide: true } }, () => ({ status: 'ok' }))
  scope.get('/ready', { schema: { hide: true } }, async () => {
    if (context.drain.isDraining) throw new ServiceError(503, 'the service is about to end')
    if (!context.isInPlace()) throw new ServiceError(503, 'the data folder is not where it was')
    try {
      await sql`select 1 from projects limit 1`.execute(context.store)
    } catch (error) {
      throw new ServiceError(503, 'the database cannot be read', { cause: error })
    }
    return { status: 'ready' }
  })
}

export function isHealthUrl(url: string): boolean {
  return /^\/api\/(?:health|ready)(?:\?|$)/.test(url)
}
