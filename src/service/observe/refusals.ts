// Refused requests (401, 403) in the audit log, as lines with `change: 'refused'`. The first of each key, address and status is
// logged at once, further ones within a minute as one line with their number, so that a flood of refusals cannot push the
// lines about real changes out of a rotated log.

import type { FastifyInstance } from 'fastify'
import type { ServiceContext } from '../context.ts'
import { clientAddress } from '../edge/client-address.ts'
import { silentLog } from '../../log.ts'

const periodMs = 60_000
/** Combinations of key, address and status that are counted in one period; all others together are one line. */
const maxCounters = 100
const statuses: ReadonlySet<number> = new Set([401, 403])

interface RefusalCounter {
  readonly fields: object
  /** Requests that are in no line of the log yet. */
  unlogged: number
}

/** Call it for a scope of routes that authenticates. */
export function auditRefusals(scope: FastifyInstance, { audit }: ServiceContext): void {
  if (audit === silentLog) return
  const counters = new Map<string, RefusalCounter>()
  const logRefusal = (fields: object, times: number): void =>
    audit.info({ change: 'refused', ...fields, times }, 'refused')
  const logCounted = (): void => {
    for (const { fields, unlogged: times } of counters.values()) if (times > 0) logRefusal(fields, times)
    counters.clear()
  }
  const timer = setInterval(logCounted, periodMs).unref()
  scope.addHook('onClose', (_instance, done) => {
    clearInterval(timer)
    logCounted()
    done()
  })
  scope.addHook('onResponse', (request, reply, done) => {
    const { statusCode: status } = reply
    if (statuses.has(status)) {
      const address = clientAddress(request)
      const { keyId: key, method } = request
      const combination = `${status} ${key} ${address}`
      const name = counters.has(combination) || counters.size < maxCounters ? combination : 'others'
      const counter = counters.get(name)
      if (counter !== undefined) counter.unlogged++
      else if (name === 'others') counters.set(name, { fields: { key: 'others' }, unlogged: 1 })
      else {
        const path = request.url.split('?', 1)[0]
        const fields = { key, status, address, method, path, request: request.id }
        counters.set(name, { fields: { key, status, address }, unlogged: 0 })
        logRefusal(fields, 1)
      }
    }
    done()
  })
}
