// Redirects of downloads: a service may keep its contents in an object store, and redirect its presigned URL to one of the
// store's, valid for a minute. Each request carries only the headers of a download, never the key; a redirect from https to
// http is refused; and no message quotes more of a URL than its origin, because path and query may hold a signature.

import { drain } from './answer-body.ts'
import { NetworkError } from './errors.ts'
import type { CallDescription } from './errors.ts'
import type { Answer } from '../world/transport.ts'

/** A URL, split for the transport. */
export interface UrlParts {
  readonly origin: string
  readonly target: string
}

export interface Followed {
  readonly answer: Answer
  /** URLs and targets on the way: secrets, to be removed from messages. */
  readonly secrets: readonly string[]
}

const mostRedirects = 5
const redirectStatuses: ReadonlySet<number> = new Set([301, 302, 303, 307, 308])
/** Statuses with which a store refuses an expired URL. */
const expiredStatuses: ReadonlySet<number> = new Set([401, 403])

/**
 * Requests `link` with `ask`, follows its redirects, and returns the last response. The ETag of `link` itself, if its redirect has
 * one, stands for that of the last response: it stays the same whichever store sends the bytes. A 401 or 403 after a redirect is
 * retried once from `link`, for a fresh redirect. Throws NetworkError "protocol" for a redirect that cannot be followed, and errors
 * of `ask`.
 */
export async function follow(
  call: CallDescription,
  link: UrlParts,
  ask: (place: UrlParts) => Promise<Answer>,
): Promise<Followed> {
  const first = await followOnce(call, link, ask)
  if (first.secrets.length === 0 || !expiredStatuses.has(first.answer.status)) return first
  await drain(first.answer)
  return followOnce(call, link, ask)
}

async function followOnce(
  call: CallDescription,
  link: UrlParts,
  ask: (place: UrlParts) => Promise<Answer>,
): Promise<Followed> {
  const secrets: string[] = []
  let place = link
  let etag: string | undefined
  for (let hop = 0; hop <= mostRedirects; hop++) {
    const answer = await ask(place)
    const location = answer.header('location')
    if (!redirectStatuses.has(answer.status) || location === undefined)
      return { answer: etag === undefined ? answer : withTag(answer, etag), secrets }
    if (hop === 0) etag = answer.header('etag')
    await drain(answer)
    place = nextUrl(call, place, location)
    secrets.push(location, place.target)
  }
  throw new NetworkError(call, 'protocol', `the download was sent on more than ${mostRedirects} times`)
}

function nextUrl(call: CallDescription, from: UrlParts, location: string): UrlParts {
  const base = from.origin + from.target
  const url = URL.canParse(location, base) ? new URL(location, base) : undefined
  const isWeb = url?.protocol === 'http:' || url?.protocol === 'https:'
  if (url === undefined || !isWeb || url.username !== '' || url.password !== '')
    throw new NetworkError(call, 'protocol', 'the download was sent on to what is no http(s) URL')
  if (from.origin.startsWith('https:') && url.protocol === 'http:')
    throw new NetworkError(call, 'protocol', `the download was sent on to ${url.origin}, without TLS`)
  return { origin: url.origin, target: url.pathname + url.search }
}

function withTag(answer: Answer, etag: string): Answer {
  return { ...answer, header: (name) => (name === 'etag' ? etag : answer.header(name)) }
}
