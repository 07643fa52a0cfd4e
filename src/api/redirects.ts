// Where a download is sent on to: a service may keep its contents in a store of its own, and answer its link with one of that
// store's, good for a minute. Each step carries only what a download sends anyhow, which is no key; none goes from
// https to http; and no message quotes a place.

import { drain } from './answer-body.ts'
import { NetworkError } from './errors.ts'
import type { CallDescription } from './errors.ts'
import type { Answer } from '../world/transport.ts'

/** A URL taken apart. */
export interface Place {
  readonly origin: string
  readonly target: string
}

export interface Followed {
  readonly answer: Answer
  /** Secrets of the places on the way. */
  readonly secrets: readonly string[]
}

const most = 5
const statuses: ReadonlySet<number> = new Set([301, 302, 303, 307, 308])
/** Answers of a store to a link whose minute has passed. */
const refusals: ReadonlySet<number> = new Set([401, 403])

/**
 * The answer at the end of the way that begins at `link`. It has the ETag that the link itself gave, where it gave one: the
 * same wherever the bytes come from. A refusal by the last place is asked about once more from the beginning. Throws
 * NetworkError "protocol" for a way that leads nowhere, and what `ask` throws.
 */
export async function follow(
  call: CallDescription,
  link: Place,
  ask: (place: Place) => Promise<Answer>,
): Promise<Followed> {
  const first = await once(call, link, ask)
  if (first.secrets.length === 0 || !refusals.has(first.answer.status)) return first
  await drain(first.answer)
  return once(call, link, ask)
}

async function once(
  call: CallDescription,
  link: Place,
  ask: (place: Place) => Promise<Answer>,
): Promise<Followed> {
  const secrets: string[] = []
  let place = link
  let etag: string | undefined
  for (let hop = 0; hop <= most; hop++) {
    const answer = await ask(place)
    const location = answer.header('location')
    if (!statuses.has(answer.status) || location === undefined)
      return { answer: etag === undefined ? answer : withTag(answer, etag), secrets }
    etag ??= answer.header('etag')
    await drain(answer)
    place = nextOf(call, place, location)
    secrets.push(location, place.target)
  }
  throw new NetworkError(call, 'protocol', `the download was sent on more than ${most} times`)
}

function nextOf(call: CallDescription, from: Place, location: string): Place {
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
