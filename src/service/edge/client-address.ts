// The client's address: the one that a trusted proxy tells, else that of the connection. Some proxies write the port
// with it; a client counted by that would have a new name with each connection.

import { isIP } from 'node:net'
import type { FastifyRequest } from 'fastify'

/** A proxy that tells no valid address counts as the client itself. */
export function clientAddress(request: FastifyRequest): string {
  const told = withoutPort(request.ip)
  return isIP(told) === 0 ? (request.raw.socket.remoteAddress ?? '') : told
}

/** `192.0.2.1:4711` → `192.0.2.1`, `[2001:db8::1]:443` → `2001:db8::1`. */
export function withoutPort(text: string): string {
  const [, bracketed, plain] = /^(?:\[([^\]]*)\](?::\d+)?|([\d.]+):\d+)$/.exec(text) ?? []
  return bracketed ?? plain ?? text
}
