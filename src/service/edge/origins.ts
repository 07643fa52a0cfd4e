// The base URL of presigned links: the operator's `publicUrl`, if set; else the Host header, if a trusted proxy sent it, or it
// is the local address of the connection, a name of the certificate, or localhost on loopback (any other could send a client to
// a stranger's server); else the local address and port.

import type { FastifyRequest } from 'fastify'
import { StartError } from '../start-error.ts'
import { type IsInNetworks, isLoopback, plainAddress } from './networks.ts'

/** Returns for instance `https://documents.example`, with a path if a proxy serves under one; no slash at the end. */
export type BaseUrlOf = (request: FastifyRequest) => string

export interface OriginSources {
  /** The operator's URL, used for all requests if it is set. */
  readonly publicUrl: string | undefined
  readonly isTrustedProxy: IsInNetworks
  /** True if the service's certificate is valid for this host; false without TLS. */
  readonly isCertified: (host: string) => boolean
}

const hostPattern = /^(?:\[[0-9a-f:.]+\]|[a-z0-9._-]+)(?::\d{1,5})?$/i

export function originsFrom({ publicUrl, isTrustedProxy, isCertified }: OriginSources): BaseUrlOf {
  if (publicUrl !== undefined) return () => publicUrl

  function isTrustedHost(host: string, remoteAddress: string, localAddress: string): boolean {
    if (!hostPattern.test(host)) return false
    if (isTrustedProxy(remoteAddress)) return true
    const name = host.replace(/:\d+$/, '').replace(/^\[|\]$/g, '')
    if (name === localAddress || isCertified(name)) return true
    return isLoopback(remoteAddress) && (name === 'localhost' || isLoopback(name))
  }

  return (request) => {
    const { socket } = request.raw
    const localAddress = plainAddress(socket.localAddress ?? '')
    // Fastify reads X-Forwarded-Host and X-Forwarded-Proto only from a trusted proxy.
    const { host } = request
    const protocol = request.protocol === 'https' ? 'https' : 'http'
    if (isTrustedHost(host, socket.remoteAddress ?? '', localAddress)) return `${protocol}://${host}`
    return `${protocol}://${localAddress.includes(':') ? `[${localAddress}]` : localAddress}:${socket.localPort}`
  }
}

/** The base URL for the operator's URL, which may end with `/api`. Throws a StartError for an invalid one. */
export function parsePublicUrl(text: string): string {
  const url = URL.canParse(text) ? new URL(text) : undefined
  const isPlain = url?.search === '' && url.hash === '' && url.username === '' && url.password === ''
  if (url === undefined || !isPlain || !/^https?:$/.test(url.protocol)) {
    throw new StartError(`not a public URL: ${text} (https://HOST, with a port or a path if need be)`)
  }
  return url.origin + url.pathname.replace(/\/+$/, '').replace(/\/api$/, '')
}
