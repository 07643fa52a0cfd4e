// Every request in order of arrival, as tests count them, noted before anything else looks at it. Bounded: the oldest go
// first.

import type { FastifyInstance, FastifyRequest } from 'fastify'
import { parseDocumentPath } from '../../../src/service/document-path.ts'
import type { Call } from './fault.ts'
import type { NodeHistory } from './node-history.ts'

declare module 'fastify' {
  interface FastifyRequest {
    /** Undefined for what is no endpoint of the interface (the OpenAPI document, unknown URLs). */
    call: Call | undefined
  }
}

const maxCalls = 1_000_000

const endpointPattern =
  /^\/api(?:\/(projects)|\/projects\/([^/]+)\/(files|tables)(?:\/.*)?|\/(download)\/([^/]+))$/

/** `noted`: the only project whose requests are noted; undefined = all of them. */
export function registerCallLog(
  app: FastifyInstance,
  calls: Call[],
  history: NodeHistory,
  noted: { readonly project?: string },
): void {
  app.decorateRequest('call', undefined)
  app.addHook('onRequest', (request, _reply, done) => {
    const call = describe(request, history, noted.project)
    if (call !== undefined) {
      request.call = call
      if (calls.length >= maxCalls) calls.splice(0, maxCalls / 10)
      calls.push(call)
    }
    done()
  })
  app.addHook('onResponse', ({ call }, reply, done) => {
    if (call !== undefined && reply.raw.writableFinished) call.status = reply.statusCode
    done()
  })
}

function describe(
  request: FastifyRequest,
  history: NodeHistory,
  noted: string | undefined,
): Call | undefined {
  const path = request.url.split('?', 1)[0] ?? ''
  const [, projects, project, inProject, download, node = ''] = endpointPattern.exec(path) ?? []
  const endpoint = (projects ?? inProject ?? download) as Call['endpoint'] | undefined
  if (endpoint === undefined) return undefined
  const of = project ?? history.find(node)?.project
  if (noted !== undefined && of !== undefined && of !== noted) return undefined
  return {
    endpoint,
    method: request.method,
    path: endpoint === 'files' ? documentPathOf(request) : (history.find(node)?.path ?? path),
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
