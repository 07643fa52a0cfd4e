// The two logs for whoever hosts the service: every request, and every change. A log that fails fails alone.

import { randomBytes } from 'node:crypto'
import type { FastifyInstance, FastifyRequest } from 'fastify'
import { silentLog } from '../../log.ts'
import type { ServiceContext } from '../context.ts'
import { clientAddress } from '../edge/client-address.ts'
import { recordOf } from './request-record.ts'

/** Names for requests, each once in the life of this machine. */
export function createRequestIds(): () => string {
  const start = randomBytes(4).toString('hex')
  let count = 0
  return () => `${start}-${(count++).toString(36)}`
}

/** Names every request, logs and counts it when it is over, however it ended. Before any other hook. */
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

/** One line per change that was made: call it when the change is durable. */
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
