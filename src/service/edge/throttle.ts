// Limits on the rate and on the number of simultaneous requests of an address or an API key: 429 with Retry-After beyond them.

import type { Socket } from 'node:net'
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify'
import ipaddr from 'ipaddr.js'
import { type Limits, exceeds } from '../limits.ts'
import { ServiceError } from '../service-error.ts'
import { whenClosed } from '../when-closed.ts'
import { answerOnSocket } from './client-error.ts'
import { clientAddress } from './client-address.ts'
import { isLoopback, plainAddress } from './networks.ts'
import type { Edge } from './edge.ts'
import type { RequestRates } from './request-rates.ts'

/** Limits requests and connections of each address, for the whole service; loopback and trusted proxies are exempt. */
export function throttleAddresses(
  app: FastifyInstance,
  edge: Edge,
  limits: Limits,
  { addresses }: RequestRates,
): void {
  app.addHook('onRequest', (request, reply, done) => {
    const address = clientAddress(request)
    const wait = isLoopback(address) ? 0 : addresses.take(networkOf(address))
    if (wait > 0) refuse(reply, wait, 'too many requests from this address')
    done()
  })
  if (limits.connections !== 0) app.server.maxConnections = limits.connections
  const open = new Map<string, number>()
  app.server.on('connection', (socket: Socket) => {
    const remoteAddress = socket.remoteAddress ?? ''
    if (isLoopback(remoteAddress) || edge.isTrustedProxy(remoteAddress)) return
    const address = networkOf(remoteAddress)
    const count = (open.get(address) ?? 0) + 1
    open.set(address, count)
    socket.once('close', () => release(open, address))
    if (!exceeds(count, limits.connectionsPerAddress)) return
    // Before the TLS handshake no response can be sent. Beyond twice the limit none is: each response keeps a connection open.
    if ('setSecureContext' in app.server || count > 2 * limits.connectionsPerAddress) socket.destroy()
    else answerOnSocket(socket, 429, 'too many connections from this address', 'Retry-After: 10\r\n')
  })
}

/** Returns a function to call for each authenticated request. It throws ServiceError 429. */
export function createKeyThrottle(
  limits: Limits,
  { keys }: RequestRates,
): (keyId: string, reply: FastifyReply) => void {
  const underWay = new Map<string, number>()
  return (keyId, reply) => {
    const wait = keys.take(keyId)
    if (wait > 0) refuse(reply, wait, 'too many requests with this key')
    const count = (underWay.get(keyId) ?? 0) + 1
    if (exceeds(count, limits.requestsUnderWayPerKey))
      refuse(reply, 1, 'too many requests with this key at a time')
    underWay.set(keyId, count)
    whenClosed(reply.raw, () => release(underWay, keyId))
  }
}

/** Shorter responses are not counted: the number of requests at a time limits them. */
const littleBytes = 64 * 1024

/**
 * Limits the bytes of JSON that one key has in memory at a time: bodies until their requests end, and large responses until they
 * are sent. For a scope that authenticates.
 */
export function throttleJson(
  scope: FastifyInstance,
  { jsonBytes, jsonBytesUnderWayPerKey: most }: Limits,
): void {
  const underWay = new Map<string, number>()
  scope.addHook('preParsing', (request, reply, payload, done) => {
    const { keyId, headers } = request
    if (keyId === undefined || !bringsJson(request)) {
      done(null, payload)
      return
    }
    // A body without Content-Length counts as one of the greatest length.
    const bytes = Number(headers['content-length'] ?? jsonBytes)
    const before = underWay.get(keyId) ?? 0
    // A key's only body is accepted, whatever its length: the parser limits that.
    if (before > 0 && exceeds(before + bytes, most)) refuse(reply, 1, 'too much JSON with this key at a time')
    underWay.set(keyId, before + bytes)
    whenClosed(reply.raw, () => release(underWay, keyId, bytes))
    done(null, payload)
  })
  // A small body may have a large response, which stays in memory while the client does not read it.
  scope.addHook('onSend', (request, reply, payload, done) => {
    const { keyId } = request
    const isLarge = typeof payload === 'string' && payload.length > littleBytes
    if (keyId !== undefined && isLarge && bringsJson(request)) {
      underWay.set(keyId, (underWay.get(keyId) ?? 0) + payload.length)
      whenClosed(reply.raw, () => release(underWay, keyId, payload.length))
    }
    done(null, payload)
  })
}

function bringsJson({ isSpooled, headers }: FastifyRequest): boolean {
  const isGiven = headers['content-length'] !== undefined || headers['transfer-encoding'] !== undefined
  return isSpooled !== true && isGiven
}

function refuse(reply: FastifyReply, seconds: number, errorMessage: string): never {
  void reply.header('retry-after', seconds)
  throw new ServiceError(429, `${errorMessage}: come back in ${seconds} s`)
}

function release(counts: Map<string, number>, name: string, amount = 1): void {
  const count = counts.get(name) ?? 0
  if (count > amount) counts.set(name, count - amount)
  else counts.delete(name)
}

/** The /64 network of an IPv6 address, all of which one client can use; an IPv4 address as it is. */
function networkOf(address: string): string {
  const plain = plainAddress(address)
  if (!ipaddr.IPv6.isValid(plain)) return plain
  return ipaddr.IPv6.parse(plain).parts.slice(0, 4).join(':')
}
