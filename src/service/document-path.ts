// The `path` query parameter: an absolute path inside the project, leading slash optional, no `..` segments
// (interface, "PUT files").

import { type Limits, exceeds } from './limits.ts'
import { ServiceError } from './service-error.ts'

/** Replaces a value that is not valid UTF-8. No path may contain it, so `parseDocumentPath` refuses such a request. */
const malformed = '\0'

/** `a/b`, `/a/b` → `/a/b`; absent, empty and `/` → `/`. Throws ServiceError 400 on anything that is not a path. */
export function parseDocumentPath(text: unknown): string {
  if (text === undefined || text === '' || text === '/') return '/'
  if (typeof text !== 'string') throw new ServiceError(400, 'path is given more than once')
  if (text.includes(malformed)) throw new ServiceError(400, 'path contains NUL or is not UTF-8')
  const names = (text.startsWith('/') ? text.slice(1) : text).split('/')
  for (const name of names) {
    if (name === '') throw new ServiceError(400, 'path contains an empty name')
    if (name === '.' || name === '..') throw new ServiceError(400, `path contains a ${name} segment`)
  }
  return `/${names.join('/')}`
}

/** Throws ServiceError 400 if a parsed path is too long or too deep for a new node. Existing nodes are not checked. */
export function checkNewPath(path: string, { nameBytes, pathBytes, depth }: Limits): void {
  const names = path.split('/').slice(1)
  const long = names.find((name) => exceeds(Buffer.byteLength(name), nameBytes))
  if (long !== undefined)
    throw new ServiceError(400, `a name in the path has more than ${nameBytes} bytes: ${long.slice(0, 40)}…`)
  if (exceeds(Buffer.byteLength(path), pathBytes))
    throw new ServiceError(400, `the path has more than ${pathBytes} bytes`)
  if (exceeds(names.length, depth)) throw new ServiceError(400, `the path is more than ${depth} names deep`)
}

/** Fastify's query parser for this service: a broken escape must become a 400, and the parser may not throw. */
export function parseQuery(text: string): Record<string, unknown> {
  const query: Record<string, unknown> = Object.create(null)
  for (const pair of text.split('&')) {
    if (pair === '') continue
    const [name = '', ...value] = pair.split('=')
    const key = decode(name)
    query[key] = key in query ? [query[key], decode(value.join('='))].flat() : decode(value.join('='))
  }
  return query
}

function decode(text: string): string {
  try {
    return decodeURIComponent(text.replaceAll('+', ' '))
  } catch {
    return malformed
  }
}
