// The access log, a line per request, and the audit log, a line per change. An error in logging never fails a request.

import { randomBytes } from 'node:crypto'
import type { FastifyInstance, FastifyRequest } from 'fastify'
import { silentLog } from '../../log.ts'
import type { ServiceContext } from '../context.ts'
import { clientAddress } from '../edge/client-address.ts'
import { recordOf } from './request-record.ts'

/** Returns a function that makes ids of requests, unique also across restarts. */
export function createRequestIds(): () => string {
  const start = randomBytes(4).toString('hex')
  let count = 0
  return () => `${start}-${(count++).toString(36)}`
}

/** Sends `x-request-id` with every response, and logs and counts every request at its end. Call it before other hooks are added. */
export function observeRequests(app: FastifyInstance, { access, metrics, log }: ServiceContext): void {
  const isObserved = access !== silentLog || metrics !== undefined
  app.addHook('onRequest', (request, reply, done) => {
    void reply.header('x-request-id', request.id)
    if (isObserved) {
      const start = performance.now()
      reply.raw.once('close', () => {
        try {
          const record = recordOf(request, reply, start)
          access.info(record, `${record.method} ${record.path} ${record.status}`)
          metrics?.count(record, request)
        } catch (error) {
          log.error({ error }, 'a request could not be logged')
        }
      })
    }
    done()
  })
}

export type Change = 'stored' | 'deleted' | 'table created' | 'stored in a table' | 'forwarded'

/** Writes a line to the audit log. Call it when the change is durable. */
export function logChange(
  { audit }: ServiceContext,
  request: FastifyRequest,
  change: Change,
  fields: object,
): void {
  if (audit === silentLog) return
  const { project, keyId: key, id } = request
  const address = clientAddress(request)
  audit.info({ change, project: project.name, ...fields, key, request: id, address }, change)
}
