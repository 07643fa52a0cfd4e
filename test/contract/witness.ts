// Stands between the client and the service and holds every exchange against the service's own OpenAPI document: what
// the client sends against the body described, what comes back against the answer described for its status.

import { createServer, request, type IncomingMessage, type ServerResponse } from 'node:http'
import { once } from 'node:events'
import { buffer } from 'node:stream/consumers'
import type { AddressInfo } from 'node:net'
import { Check } from 'typebox/schema'

/** `METHOD /projects/{project_name}/…` */
export type Endpoint = string

export interface Exchange {
  readonly endpoint: Endpoint | undefined
  readonly status: number
  /** The answer's JSON; undefined for an empty one. */
  readonly answer: unknown
}

export interface Witness {
  /** For a client: the service's base URL through here. */
  readonly baseUrl: string
  readonly exchanges: readonly Exchange[]
  /** Exchanges that did not fit the document, one line each. */
  readonly complaints: readonly string[]
  /** `ENDPOINT STATUS` as the document has them. */
  readonly described: readonly string[]
  close(): Promise<void>
}

interface Described {
  readonly content?: Readonly<Record<string, { readonly schema: object }>>
}
interface Operation {
  readonly requestBody?: Described
  readonly responses: Readonly<Record<string, Described>>
}
type Paths = Readonly<Record<string, Readonly<Record<string, Operation>>>>

interface OpenApiDocument {
  readonly paths: Paths
  readonly components: object
}

interface Route {
  readonly endpoint: Endpoint
  readonly method: string
  readonly pattern: RegExp
  readonly operation: Operation
}

/** A witness before the service at `serviceUrl`, which ends in `/api`. */
export async function startWitness(serviceUrl: string): Promise<Witness> {
  const document = (await (await fetch(`${serviceUrl}/openapi.json`)).json()) as OpenApiDocument
  const routes = routesOf(inFull(document.paths, document) as Paths)
  const exchanges: Exchange[] = []
  const complaints: string[] = []

  async function pass(incoming: IncomingMessage, outgoing: ServerResponse): Promise<void> {
    const { method = '', url = '', headers } = incoming
    const sent = await buffer(incoming)
    const onward = request(new URL(url, serviceUrl), { method, headers })
    const answered = once(onward, 'response')
    // A body that is refused early is not read to its end: what counts is the answer.
    onward.on('error', () => {})
    onward.end(sent)
    const [answer] = (await answered) as [IncomingMessage]
    const got = await buffer(answer)
    const status = answer.statusCode ?? 0
    // Presigned downloads are bytes, and no endpoint of the interface.
    if (!url.startsWith('/api/download/')) record(method, url, status, { sent, got })
    // Last: whoever has the answer finds the exchange.
    outgoing.writeHead(status, answer.rawHeaders).end(got)
  }

  function record(method: string, url: string, status: number, bodies: { sent: Buffer; got: Buffer }): void {
    const route = routes.find(({ method: of, pattern }) => of === method && pattern.test(pathOf(url)))
    const exchange = { endpoint: route?.endpoint, status, answer: jsonOf(bodies.got) }
    exchanges.push(exchange)
    complaints.push(...complaintsOf(route, exchange, jsonOf(bodies.sent)))
  }

  const server = createServer((incoming, outgoing) => {
    pass(incoming, outgoing).catch(() => outgoing.destroy())
  })
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  return {
    baseUrl: `http://127.0.0.1:${(server.address() as AddressInfo).port}/api`,
    exchanges,
    complaints,
    described: routes.flatMap(({ endpoint, operation }) =>
      Object.keys(operation.responses).map((status) => `${endpoint} ${status}`),
    ),
    async close() {
      server.closeAllConnections()
      server.close()
      await once(server, 'close')
    },
  }
}

/** With everything where it is referred to. Throws TypeError where that leads nowhere. */
export function inFull(value: unknown, document: object): unknown {
  if (Array.isArray(value)) return value.map((element: unknown) => inFull(element, document))
  if (typeof value !== 'object' || value === null) return value
  if ('$ref' in value) return inFull(referredTo(String(value.$ref), document), document)
  return Object.fromEntries(Object.entries(value).map(([key, member]) => [key, inFull(member, document)]))
}

function referredTo(reference: string, document: object): unknown {
  const [start, ...steps] = reference.split('/')
  const target = steps.reduce<unknown>(
    (at, step) => (at as Record<string, unknown> | undefined)?.[step],
    document,
  )
  if (start !== '#' || target === undefined) throw new TypeError(`${reference} is not in the document`)
  return target
}

function routesOf(paths: Paths): readonly Route[] {
  return Object.entries(paths).flatMap(([path, operations]) =>
    Object.entries(operations).map(([method, operation]) => ({
      endpoint: `${method.toUpperCase()} ${path.replace(/^\/api/, '')}`,
      method: method.toUpperCase(),
      pattern: new RegExp(`^${path.replaceAll(/\{\w+\}/g, '[^/]+')}$`),
      operation,
    })),
  )
}

function complaintsOf(route: Route | undefined, { status, answer }: Exchange, sent: unknown): string[] {
  if (route === undefined) return [`no described endpoint answered ${status}`]
  const { endpoint, operation } = route
  const complaints: string[] = []
  const body = schemaOf(operation.requestBody)
  // A refused request need not be as described.
  if (status < 400 && body !== undefined && !Check(body, sent)) {
    complaints.push(`${endpoint}: sent ${short(sent)}`)
  }
  const described = operation.responses[String(status)]
  const schema = schemaOf(described)
  if (described === undefined) complaints.push(`${endpoint}: ${status} is not described`)
  else if (schema === undefined ? answer !== undefined : !Check(schema, answer)) {
    complaints.push(`${endpoint}: ${status} ${short(answer)}`)
  }
  return complaints
}

function schemaOf(described: Described | undefined): object | undefined {
  return described?.content?.['application/json']?.schema
}

function short(value: unknown): string {
  return (JSON.stringify(value) ?? 'nothing').slice(0, 300)
}

function pathOf(url: string): string {
  return url.split('?', 1)[0] ?? ''
}

function jsonOf(bytes: Buffer): unknown {
  return bytes.length === 0 ? undefined : (JSON.parse(bytes.toString()) as unknown)
}
