// Fetches the content of a `uri` upload. The address is checked where it counts: in the lookup the connection is made from,
// so that a name which resolves differently the second time gains nothing. No message repeats the URL: it is signed.

import { type LookupAddress, lookup } from 'node:dns'
import { type IncomingMessage, request as httpRequest } from 'node:http'
import { request as httpsRequest } from 'node:https'
import { type LookupFunction, isIP } from 'node:net'
import type { BlobWriter } from '../blobs/backend.ts'
import { ServiceError } from '../service-error.ts'
import { isPrivateAddress } from './private-addresses.ts'

export interface UriPolicy {
  readonly allowPrivate: boolean
  readonly limitBytes: number
  /** Milliseconds without a byte. */
  readonly idleMs: number
  /** Milliseconds for everything. */
  readonly totalMs: number
}

export const defaultUriPolicy: UriPolicy = {
  allowPrivate: false,
  limitBytes: 4 * 1024 ** 3,
  idleMs: 30_000,
  totalMs: 30 * 60_000,
}

const maxRedirects = 5

/** Copies what `url` answers into `writer`. Throws ServiceError 400 when that cannot or may not be done, 413 when too large. */
export async function fetchUri(url: URL, writer: BlobWriter, policy: UriPolicy): Promise<void> {
  const signal = AbortSignal.timeout(policy.totalMs)
  try {
    const answer = await followRedirects(url, policy, signal)
    let bytes = 0
    for await (const chunk of answer as AsyncIterable<Buffer>) {
      bytes += chunk.byteLength
      if (bytes > policy.limitBytes)
        throw new ServiceError(413, `the uri's content exceeds ${policy.limitBytes} bytes`)
      await writer.write(chunk)
    }
  } catch (error) {
    if (error instanceof ServiceError) throw error
    throw refusal(signal.aborted ? 'took too long' : reasonOf(error), error)
  }
}

async function followRedirects(start: URL, policy: UriPolicy, signal: AbortSignal): Promise<IncomingMessage> {
  let url = start
  for (let hop = 0; hop <= maxRedirects; hop++) {
    const answer = await get(url, policy, signal)
    const status = answer.statusCode ?? 0
    if (status === 200) return answer
    answer.destroy()
    const location = answer.headers.location
    if (status < 300 || status >= 400 || location === undefined) throw refusal(`was answered with ${status}`)
    if (!URL.canParse(location, url.href)) throw refusal('redirects to nowhere')
    url = new URL(location, url)
  }
  throw refusal(`redirects more than ${maxRedirects} times`)
}

function get(url: URL, policy: UriPolicy, signal: AbortSignal): Promise<IncomingMessage> {
  if (url.protocol !== 'http:' && url.protocol !== 'https:') throw refusal('is neither http nor https')
  // A literal address is connected to without a lookup.
  const host = url.hostname.replace(/^\[|\]$/g, '')
  if (isIP(host) !== 0 && !policy.allowPrivate && isPrivateAddress(host))
    throw refusal('leads to a private address')
  const send = url.protocol === 'https:' ? httpsRequest : httpRequest
  return new Promise((resolve, reject) => {
    const request = send(url, {
      agent: false,
      signal,
      timeout: policy.idleMs,
      headers: { accept: '*/*', 'user-agent': 'docmount-service' },
      ...(policy.allowPrivate ? {} : { lookup: lookupPublic }),
    })
    request.once('timeout', () => request.destroy(refusal('sent nothing for too long')))
    request.once('error', reject)
    request.once('response', resolve)
    request.end()
  })
}

const lookupPublic: LookupFunction = (hostname, options, callback) => {
  lookup(hostname, { ...options, all: true }, (error, addresses: LookupAddress[]) => {
    const first = addresses?.[0]
    if (error !== null || first === undefined) callback(error ?? new Error('no address'), '')
    else if (addresses.some((found) => isPrivateAddress(found.address)))
      callback(refusal('leads to a private address'), '')
    else if (options.all === true) callback(null, addresses)
    else callback(null, first.address, first.family)
  })
}

function refusal(what: string, cause?: unknown): ServiceError {
  return new ServiceError(400, `the uri ${what}`, { cause })
}

function reasonOf(error: unknown): string {
  const code = error instanceof Error && 'code' in error ? String(error.code) : 'connection failed'
  return `could not be fetched: ${code}`
}
