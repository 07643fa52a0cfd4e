// The HTTP server of the service: registers hooks, parsers and routes in the right order, and formats errors.

import Fastify, {
  type FastifyError,
  type FastifyInstance,
  type FastifyReply,
  type FastifyRequest,
} from 'fastify'
import { findInexactNumber } from '../exact-numbers.ts'
import { authenticate, checkKeyAgain } from './authentication.ts'
import type { ServiceContext } from './context.ts'
import type { ServiceOptions } from './contract.ts'
import { diskFull, isDiskFull } from './disk-full.ts'
import { parseQuery } from './document-path.ts'
import { withoutPort } from './edge/client-address.ts'
import { answerClientError } from './edge/client-error.ts'
import { checkJson } from './edge/json-limits.ts'
import { checkTexts, decodeJson } from './edge/json-text.ts'
import { askForExpectedBodies } from './edge/expected-bodies.ts'
import { leaveHostToUs, refuseOddRequests } from './edge/odd-requests.ts'
import { keepOrder } from './edge/request-order.ts'
import { giveUpSlowBodies } from './edge/slow-bodies.ts'
import { throttleAddresses, throttleJson } from './edge/throttle.ts'
import { answerUnknownRoutes } from './edge/unknown-route.ts'
import type { Limits } from './limits.ts'
import { createRequestIds, observeRequests } from './observe/logs.ts'
import { auditRefusals } from './observe/refusals.ts'
import { noteRoutes } from './openapi.ts'
import { schemaController } from './request-validators.ts'
import { registerDocsPage } from './routes/docs-page.ts'
import { registerDownloads } from './routes/downloads.ts'
import { registerFiles } from './routes/files.ts'
import { isHealthUrl, registerHealth } from './routes/health.ts'
import { registerNamedOnly } from './routes/named-only.ts'
import { registerProjects } from './routes/projects.ts'
import type { ErrorBody } from './schemas.ts'
import { ServiceError } from './service-error.ts'
import { isReferenceViolation } from './store/transact.ts'
import { registerTables } from './tables/routes.ts'

/** A connection is closed after this time without any byte. A reconciliation may be silent long, but not that long. */
const silenceMs = 10 * 60_000

/** Time limit of the TLS handshake. */
const handshakeMs = 30_000

/**
 * Resolves with the server, ready to listen. `extend` is called before the routes are added. Hooks run in the order in which they
 * are added: those that order, log and count requests first, then those that may refuse one.
 */
export async function createApp(
  context: ServiceContext,
  extend?: ServiceOptions['extend'],
): Promise<FastifyInstance> {
  const app = Fastify({
    // Cast, because Fastify has another type for a server with TLS; it is used in the same way here.
    ...(context.edge.certificate === undefined
      ? { http: leaveHostToUs }
      : ({
          https: { ...context.edge.certificate.options, ...leaveHostToUs, handshakeTimeout: handshakeMs },
        } as object)),
    genReqId: createRequestIds(),
    bodyLimit: context.limits.jsonBytes === 0 ? Number.MAX_SAFE_INTEGER : context.limits.jsonBytes,
    connectionTimeout: silenceMs,
    trustProxy: (address) => context.edge.isTrustedProxy(withoutPort(address)),
    routerOptions: { maxParamLength: 1024, querystringParser: parseQuery },
    schemaController,
    frameworkErrors: (error, request, reply) => answerError(context, error, request, reply),
    clientErrorHandler: answerClientError,
  })
  app.setErrorHandler((error: FastifyError, request, reply) => answerError(context, error, request, reply))
  keepOrder(app, context.limits)
  observeRequests(app, context)
  context.metrics?.watch(app.server)
  app.addHook('onRequest', (_request, reply, done) => {
    // Responses contain presigned links, which are for this client only and expire: they must not be cached.
    void reply.headers({
      'cache-control': 'private, no-store',
      'x-content-type-options': 'nosniff',
      'referrer-policy': 'no-referrer',
      'cross-origin-resource-policy': 'same-origin',
    })
    done()
  })
  context.drain.register(app, isHealthUrl)
  giveUpSlowBodies(app, context.limits)
  refuseOddRequests(app)
  askForExpectedBodies(app)
  throttleAddresses(app, context.edge, context.limits, context.rates)
  answerUnknownRoutes(app)
  acceptJson(app, context.limits)
  // Fields that hooks and handlers set: declared, because requests of one shape are faster.
  for (const name of ['keyId', 'downloadOf', 'isSpooled']) app.decorateRequest(name, undefined)
  extend?.(app)
  const openApi = noteRoutes(app)

  await app.register(
    async (api) => {
      registerDocsPage(api, openApi)
      registerHealth(api, context)
      registerDownloads(api, context)
      await api.register(async (scope) => {
        auditRefusals(scope, context)
        scope.addHook('onRequest', authenticate(context))
        scope.addHook('preHandler', checkKeyAgain)
        throttleJson(scope, context.limits)
        registerProjects(scope)
        await registerFiles(scope, context)
        await registerTables(scope, context)
        registerNamedOnly(scope)
      })
    },
    { prefix: '/api' },
  )
  return app
}

/**
 * Adds the JSON parser. An empty body is allowed, because some clients send a content type with DELETE; routes that need a body
 * require it in their schema.
 */
function acceptJson(app: FastifyInstance, limits: Limits): void {
  const parse = app.getDefaultJsonParser('error', 'error')
  app.removeContentTypeParser('application/json')
  app.addContentTypeParser('application/json', { parseAs: 'buffer' }, (request, body, done) => {
    if (body.length === 0) {
      done(null, undefined)
      return
    }
    let text: string
    try {
      checkJson(body as Buffer, limits)
      text = decodeJson(body as Buffer)
    } catch (error) {
      done(error as ServiceError)
      return
    }
    const inexact = findInexactNumber(text)
    if (inexact !== undefined) {
      done(new ServiceError(400, `the number ${inexact} would not be kept as it is: send it as text`))
      return
    }
    // Fastify's parser fails for invalid JSON, and for names that would change the prototype of objects.
    void parse(request, text, (error, value) => {
      if (error !== null) {
        done(
          new ServiceError(400, 'the body is not JSON, or has the name __proto__ or constructor.prototype'),
        )
        return
      }
      try {
        checkTexts(text, value)
        done(null, value)
      } catch (refusal) {
        done(refusal as ServiceError)
      }
    })
  })
}

/** Returns the path without the query, which may contain the signature of a link. */
function pathOf(request: FastifyRequest): string {
  return request.url.split('?', 1)[0] ?? ''
}

function answerError(
  context: ServiceContext,
  error: FastifyError | ServiceError,
  request: FastifyRequest,
  reply: FastifyReply,
): void {
  if (isDiskFull(error)) {
    answerError(context, diskFull(error), request, reply)
    return
  }
  if (isReferenceViolation(error)) {
    const gone = new ServiceError(404, 'what it belongs to was removed meanwhile', { cause: error })
    answerError(context, gone, request, reply)
    return
  }
  const status = error.statusCode !== undefined && error.statusCode >= 400 ? error.statusCode : 500
  const isBug = status === 500 && !(error instanceof ServiceError)
  if (isBug) context.log.error({ error, method: request.method, path: pathOf(request) }, 'a request failed')
  const body: ErrorBody = { errorMessage: isBug ? 'unexpected failure' : error.message }
  void reply.code(status).type('application/json; charset=utf-8').send(body)
}
