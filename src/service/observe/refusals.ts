// Refused attempts in the audit log: the first of a key, address and status at once, those that follow within a minute as one
// line with their number, so that nobody who is refused can push the lines of changes out of a log that is turned over.

import type { FastifyInstance } from 'fastify'
import type { ServiceContext } from '../context.ts'
import { clientAddress } from '../edge/client-address.ts'
import { silentLog } from '../../log.ts'

const periodMs = 60_000
/** Told apart in one period; the rest are one line. */
const maxKinds = 100
const statuses: ReadonlySet<number> = new Set([401, 403])

interface Refused {
  readonly fields: object
  /** Those that no line has told yet. */
  times: number
}

/** For a scope that authenticates. */
export function auditRefusals(scope: FastifyInstance, { audit }: ServiceContext): void {
  if (audit === silentLog) return
  const kinds = new Map<string, Refused>()
  const tell = (fields: object, times: number): void =>
    audit.info({ change: 'refused', ...fields, times }, 'refused')
  const tellRest = (): void => {
    for (const { fields, times } of kinds.values()) if (times > 0) tell(fields, times)
    kinds.clear()
  }
  const timer = setInterval(tellRest, periodMs).unref()
  scope.addHook('onClose', (_instance, done) => {
    clearInterval(timer)
    tellRest()
    done()
  })
  scope.addHook('onResponse', (request, reply, done) => {
    const { statusCode: status } = reply
    if (statuses.has(status)) {
      const address = clientAddress(request)
      const { keyId: key, method } = request
      const own = `${status} ${key} ${address}`
      const name = kinds.has(own) || kinds.size < maxKinds ? own : 'others'
      const known = kinds.get(name)
      if (known !== undefined) known.times++
      else if (name === 'others') kinds.set(name, { fields: { key: 'others' }, times: 1 })
      else {
        const path = request.url.split('?', 1)[0]
        const fields = { key, status, address, method, path, request: request.id }
        kinds.set(name, { fields: { key, status, address }, times: 0 })
        tell(fields, 1)
      }
    }
    done()
  })
}
