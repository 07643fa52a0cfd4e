// Responses that a request may get besides those of its route, and the headers of responses: one list for all operations.

import { STATUS_CODES } from 'node:http'

/** An operation of the OpenAPI document: the fields used here. */
export interface Operation {
  operationId?: string
  security?: readonly object[]
  requestBody?: object
  responses?: Record<string, Answer>
}
interface Answer {
  description?: string
  headers?: Record<string, object>
}

interface Where extends Operation {
  readonly method: string
  readonly path: string
}
interface CommonAnswer {
  readonly status: number
  readonly name: string
  readonly description: string
  readonly headers?: Record<string, object>
  /** True where an operation may have this response. A path with `{` has parameters, which may be wrong. */
  readonly isOf: (where: Where) => boolean
}

/** An operation that states no `security` of its own needs a key. */
const isKeyed = ({ security }: Where): boolean => security === undefined
const isAny = (): boolean => true
/** Operations whose bodies are accepted whatever their Content-Type says. */
const spooled: ReadonlySet<string | undefined> = new Set(['putFile', 'createStorageTable'])

const retryAfter = { description: 'Seconds.', schema: { type: 'integer', minimum: 1 } }
const always = {
  'X-Request-Id': {
    description: 'Names the request in the access log.',
    schema: { type: 'string' },
  },
  'Cache-Control': {
    description: 'Links and documents are for whoever asked.',
    schema: { type: 'string' },
  },
  'X-Content-Type-Options': { description: 'No type is guessed.', schema: { const: 'nosniff' } },
  'Referrer-Policy': { description: 'Links are told to nobody.', schema: { const: 'no-referrer' } },
  'Cross-Origin-Resource-Policy': {
    description: 'Pages of other origins embed documents only.',
    schema: { type: 'string' },
  },
}

const commonAnswers: readonly CommonAnswer[] = [
  {
    status: 400,
    name: 'BadRequest',
    description: 'Not what is described here',
    isOf: ({ path }) => path.includes('{'),
  },
  {
    status: 401,
    name: 'Unauthorized',
    description: 'No key, or one that is unknown, expired, revoked, or does not open the project',
    isOf: isKeyed,
  },
  {
    status: 403,
    name: 'Forbidden',
    description: 'The key may only read, or opens another path; the link is forged or has expired',
    isOf: ({ path }) => path.includes('{'),
  },
  {
    status: 404,
    name: 'NotFound',
    description: 'No such path, table or document; or the project was removed at this moment',
    isOf: ({ path, method }) => path.includes('{') && !(method === 'get' && path.endsWith('/tables')),
  },
  { status: 408, name: 'RequestTimeout', description: 'The request came too slowly', isOf: isAny },
  {
    status: 413,
    name: 'ContentTooLarge',
    description: 'The body, or what it holds, is more than the service takes',
    isOf: ({ requestBody }) => requestBody !== undefined,
  },
  {
    status: 415,
    name: 'UnsupportedMediaType',
    description: 'The body is not application/json',
    isOf: ({ requestBody, operationId }) => requestBody !== undefined && !spooled.has(operationId),
  },
  {
    status: 429,
    name: 'TooManyRequests',
    description: 'Too many requests or connections of this key or address',
    headers: { 'Retry-After': { ...retryAfter, required: true } },
    isOf: isAny,
  },
  { status: 431, name: 'HeadersTooLarge', description: 'Path and headers are beyond 16 KiB', isOf: isAny },
  { status: 500, name: 'UnexpectedFailure', description: 'Unexpected failure', isOf: isAny },
  {
    status: 503,
    name: 'Unavailable',
    description: 'The service is about to end, is busy, or its database is held by another program',
    headers: { 'Retry-After': retryAfter },
    isOf: isAny,
  },
  {
    status: 507,
    name: 'InsufficientStorage',
    description: 'The disk or the project is full: delete something first',
    isOf: ({ method }) => method !== 'get' && method !== 'head',
  },
]

/** Adds the common responses to every operation; the route's own response for a status wins. */
export function describeAnswers(paths: Record<string, Record<string, Operation>>): void {
  for (const [path, operations] of Object.entries(paths)) {
    for (const [method, operation] of Object.entries(operations)) {
      const own = Object.entries(operation.responses ?? {}).map(([status, answer]) => [
        status,
        { ...answer, description: wordsOf(status, answer), headers: { ...alwaysSent, ...answer.headers } },
      ])
      const common = commonAnswers
        .filter(({ isOf }) => isOf({ ...operation, method, path }))
        .map(({ status, name }) => [status, { $ref: `#/components/responses/${name}` }])
      operations[method] = { ...operation, responses: Object.fromEntries([...common, ...own]) }
    }
  }
}

const alwaysSent = Object.fromEntries(
  Object.keys(always).map((name) => [name, { $ref: `#/components/headers/${name}` }]),
)

/** Components that the operations refer to; `errorSchema` is the body of each response. */
export function answerComponents(errorSchema: object): { headers: object; responses: object } {
  const content = { 'application/json': { schema: errorSchema } }
  const responses = commonAnswers.map(({ name, description, headers }) => [
    name,
    { description, headers: { ...alwaysSent, ...headers }, content },
  ])
  return { headers: always, responses: Object.fromEntries(responses) }
}

function wordsOf(status: string, { description }: Answer): string {
  return description === undefined || description === 'Default Response'
    ? (STATUS_CODES[status] ?? 'Unexpected failure')
    : description
}
