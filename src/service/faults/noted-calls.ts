// Notes every request for tests before anything else looks at it, and finds the fault that hits it.

import type { FastifyInstance, FastifyRequest } from 'fastify'
import type { Call } from '../contract.ts'
import type { ServiceContext } from '../context.ts'
import { parseDocumentPath } from '../document-path.ts'
import { findById } from '../store/nodes.ts'
import type { CallLog } from './call-log.ts'
import type { FaultKind, FaultOf } from './fault-switch.ts'

declare module 'fastify' {
  interface FastifyRequest {
    /** Noted for tests. Undefined for what is no endpoint of the interface (the OpenAPI document, unknown URLs). */
    call: Call | undefined
  }
}

const endpointPattern =
  /^\/api(?:\/(projects)|\/projects\/[^/]+\/(files|tables)(?:\/.*)?|\/(download)\/[^/]+)$/

/** Notes every request before anything else looks at it. */
export function registerCallLog(app: FastifyInstance, context: ServiceContext, log: CallLog): void {
  app.addHook('onRequest', async (request) => {
    const call = describe(request)
    if (call === undefined) return
    request.call = call
    log.add(call)
    if (call.endpoint === 'download') await nameDocument(call, request, context)
  })
  app.addHook('onResponse', (request, reply, done) => {
    if (request.call !== undefined && reply.raw.writableFinished) request.call.status = reply.statusCode
    done()
  })
}

/** The fault of this kind that hits this request, if any. */
export function takeFault<Kind extends FaultKind>(
  context: ServiceContext,
  request: FastifyRequest,
  kind: Kind,
): FaultOf<Kind> | undefined {
  return request.call === undefined ? undefined : context.testing?.faults.take(kind, request.call)
}

function describe(request: FastifyRequest): Call | undefined {
  const path = request.url.split('?', 1)[0] ?? ''
  const [, projects, inProject, download] = endpointPattern.exec(path) ?? []
  const endpoint = (projects ?? inProject ?? download) as Call['endpoint'] | undefined
  if (endpoint === undefined) return undefined
  return {
    endpoint,
    method: request.method,
    path: endpoint === 'files' ? documentPathOf(request) : path,
    range: endpoint === 'download' ? request.headers.range : undefined,
    status: undefined,
  }
}

function documentPathOf(request: FastifyRequest): string {
  const { path } = request.query as { path?: unknown }
  try {
    return parseDocumentPath(path)
  } catch {
    return String(path)
  }
}

/** A download's link carries the node's id only; the log names its document. */
async function nameDocument(call: Call, request: FastifyRequest, context: ServiceContext): Promise<void> {
  const { node } = request.params as { node?: string }
  const found = node === undefined ? undefined : await findById(context.store, node)
  if (found !== undefined) (call as { path: string }).path = found.path
}
