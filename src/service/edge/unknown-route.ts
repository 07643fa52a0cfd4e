// Refuses requests for which there is no route: with 405 and Allow where the path has routes for other methods, else with 404.
// They are refused before the body is read, and without a key.

import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify'
import { ServiceError } from '../service-error.ts'

/** Call before any route is registered. */
export function answerUnknownRoutes(app: FastifyInstance): void {
  const methodsOf = new Map<string, Set<string>>()
  app.addHook('onRoute', ({ url, method }) => {
    const methods = methodsOf.get(url) ?? new Set()
    methodsOf.set(url, methods)
    for (const name of [method].flat()) methods.add(name)
  })
  app.addHook('onRequest', (request, reply, done) => {
    if (request.is404) refuse(request, reply)
    done()
  })
  // Fastify's default handler would answer without an Error body.
  app.setNotFoundHandler(refuse)

  function refuse(request: FastifyRequest, reply: FastifyReply): never {
    const segments = (request.url.split('?', 1)[0] ?? '').split('/')
    const allowed = new Set<string>()
    for (const [url, methods] of methodsOf)
      if (fits(url.split('/'), segments)) for (const name of methods) allowed.add(name)
    if (allowed.size === 0) throw new ServiceError(404, 'there is no such endpoint')
    const allow = [...allowed].sort().join(', ')
    void reply.header('allow', allow)
    throw new ServiceError(405, `${request.method} is not for this address; it takes ${allow}`)
  }
}

function fits(pattern: readonly string[], segments: readonly string[]): boolean {
  return (
    pattern.length === segments.length &&
    pattern.every((part, at) => (part.startsWith(':') ? segments[at] !== '' : part === segments[at]))
  )
}
