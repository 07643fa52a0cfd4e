// The faults of single endpoints: links that have expired, ranges that are ignored, copies that are refused or short, and what
// a listing tells.

import type { FastifyInstance } from 'fastify'
import type { DocumentBody, FileBody } from '../../../src/service/schemas.ts'
import { ServiceError } from '../../../src/service/service-error.ts'
import { dropPayload, isSuccess, jsonOf } from './answers.ts'
import type { FaultSwitch } from './fault-switch.ts'
import type { NodeHistory } from './node-history.ts'

export function registerRouteFaults(app: FastifyInstance, faults: FaultSwitch, history: NodeHistory): void {
  app.addHook('preHandler', async (request) => {
    const { call, method } = request
    if (call?.endpoint === 'download') {
      if (faults.take('expired-url', call) !== undefined)
        throw new ServiceError(403, 'the link has expired: ask for a new one')
      const { headers } = request.raw
      if (method !== 'GET' || headers.range === undefined || faults.take('ignore-range', call) === undefined)
        return
      delete headers.range
      // A request with a condition is answered by the service itself, where another would be sent on to a bucket.
      headers['if-match'] ??= '*'
    } else if (call?.endpoint === 'files' && method === 'PUT') {
      const body = request.body as DocumentBody
      if (body.file_type !== 'uri') return
      const refusal = faults.take('refuse-uri', call)
      if (refusal !== undefined)
        throw new ServiceError(refusal.status ?? 400, 'file_type uri is not accepted')
      const short = faults.take('short-copy', call)
      if (short === undefined) return
      const file = Buffer.alloc(short.bytes, '?').toString('base64')
      request.body = { ...body, file_type: 'binary', file }
    }
  })

  app.addHook('onSend', async (request, reply, payload) => {
    const { call, method } = request
    if (call?.endpoint !== 'files') return payload
    const { project_name: project } = request.params as { project_name: string }
    if (method === 'PUT' && reply.statusCode === 201)
      history.noteStored(project, call.path, (await jsonOf(payload)) as FileBody)
    if (method === 'DELETE' && reply.statusCode === 204) history.noteDeleted(project, call.path)
    if (method !== 'GET' || (reply.statusCode !== 404 && !isFolder(reply.statusCode, payload))) return payload
    const stale = faults.take('stale-listing', call)
    if (stale === undefined) return payload
    dropPayload(payload)
    const at = 'asOf' in stale ? stale.asOf : Date.now() - stale.ageMs
    const body = history.bodyAt(project, call.path, at)
    void reply.code(body === undefined ? 404 : 200)
    // A link leads to the address that was asked, which may be that of a proxy.
    const origin = `${request.protocol}://${request.host}`
    return JSON.stringify(body ?? { errorMessage: `nothing at ${call.path}` }, (key, value: unknown) =>
      key === 'url' ? String(value).replace(/^https?:\/\/[^/]+/, origin) : value,
    )
  })

  app.addHook('onSend', async ({ call, method }, reply, payload) => {
    if (call?.endpoint !== 'files' || !isSuccess(reply) || reply.statusCode === 204) return payload
    const omit = faults.take('omit-fields', call)
    const odd = method === 'GET' ? faults.take('odd-entries', call) : undefined
    if (omit === undefined && odd === undefined) return payload
    const fields = new Set<string>(omit?.fields)
    const body = (await jsonOf(payload)) as { entries?: unknown[] }
    body.entries?.unshift(...(odd?.entries ?? []))
    reply.removeHeader('content-length')
    return JSON.stringify(body, (key, value: unknown) => (fields.has(key) ? undefined : value))
  })
}

/** A large folder is sent as a stream. */
function isFolder(status: number, payload: unknown): boolean {
  return status === 200 && (typeof payload !== 'string' || payload.startsWith('{"ftype":"folder"'))
}
