// Fetches the content of a `uri` upload. The IP address is checked in the DNS lookup that the connection itself makes, so that a
// name which resolves to another address the second time cannot evade it. No message contains the URL, which may be signed.

import { type LookupAddress, lookup } from 'node:dns'
import { type IncomingMessage, request as httpRequest } from 'node:http'
import { request as httpsRequest } from 'node:https'
import { type LookupFunction, isIP } from 'node:net'
import type { BlobWriter } from '../blobs/backend.ts'
import { ServiceError } from '../service-error.ts'
import { type OwnAddress, isOwnAddress, isOwnHost, isPrivateAddress } from './private-addresses.ts'

export interface UriPolicy {
  readonly allowPrivate: boolean
  readonly limitBytes: number
  /** Longest time without a byte. */
  readonly idleMs: number
  /** Longest time for all fetches of one upload together. */
  readonly totalMs: number
}

/** The policy for one fetch. */
export interface UriFetch extends Omit<UriPolicy, 'totalMs'> {
  readonly signal: AbortSignal
  /** The address of this service, from which nothing is fetched. */
  readonly own: OwnAddress
}

export const defaultUriPolicy: UriPolicy = {
  allowPrivate: false,
  limitBytes: 4 * 1024 ** 3,
  idleMs: 30_000,
  totalMs: 30 * 60_000,
}

const maxRedirects = 5

/** Downloads `url` into `writer`. Throws ServiceError 400 when that fails or is not allowed, 413 when it is too large. */
export async function fetchUri(url: URL, writer: BlobWriter, policy: UriFetch): Promise<void> {
  const { signal } = policy
  try {
    const answer = await followRedirects(url, policy)
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

async function followRedirects(start: URL, policy: UriFetch): Promise<IncomingMessage> {
  let url = start
  for (let hop = 0; hop <= maxRedirects; hop++) {
    const answer = await get(url, policy)
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

function get(url: URL, policy: UriFetch): Promise<IncomingMessage> {
  if (url.protocol !== 'http:' && url.protocol !== 'https:') throw refusal('is neither http nor https')
  if (isOwnHost(url, policy.own)) throw ownAddress()
  const check = (address: string): ServiceError | undefined => {
    if (isOwnAddress(address, portOf(url), policy.own)) return ownAddress()
    return !policy.allowPrivate && isPrivateAddress(address)
      ? refusal('leads to a private address')
      : undefined
  }
  // For a literal IP address Node makes no lookup, so it is checked here.
  const host = url.hostname.replace(/^\[|\]$/g, '')
  const refused = isIP(host) === 0 ? undefined : check(host)
  if (refused !== undefined) throw refused
  const send = url.protocol === 'https:' ? httpsRequest : httpRequest
  return new Promise((resolve, reject) => {
    const request = send(url, {
      agent: false,
      signal: policy.signal,
      timeout: policy.idleMs,
      headers: { accept: '*/*', 'user-agent': 'docmount-service' },
      lookup: lookupChecked(check),
    })
    request.once('timeout', () => request.destroy(refusal('sent nothing for too long')))
    request.once('error', reject)
    request.once('response', resolve)
    request.end()
  })
}

/** A DNS lookup that fails if any address of the name is refused: Node may connect to each of them. */
function lookupChecked(check: (address: string) => ServiceError | undefined): LookupFunction {
  return (hostname, options, callback) => {
    lookup(hostname, { ...options, all: true }, (error, addresses: LookupAddress[]) => {
      const first = addresses?.[0]
      const [refused] = (addresses ?? []).flatMap(({ address }) => check(address) ?? [])
      if (error !== null || first === undefined) callback(error ?? new Error('no address'), '')
      else if (refused !== undefined) callback(refused, '')
      else if (options.all === true) callback(null, addresses)
      else callback(null, first.address, first.family)
    })
  }
}

function portOf({ protocol, port }: URL): number {
  return port === '' ? (protocol === 'https:' ? 443 : 80) : Number(port)
}

function ownAddress(): ServiceError {
  return refusal('leads to this service, and is no link of it that is valid')
}

function refusal(what: string, cause?: unknown): ServiceError {
  return new ServiceError(400, `the uri ${what}`, { cause })
}

function reasonOf(error: unknown): string {
  const code = error instanceof Error && 'code' in error ? String(error.code) : 'connection failed'
  return `could not be fetched: ${code}`
}
