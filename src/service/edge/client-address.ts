// The client's IP address: from the header of a trusted proxy, else the address of the connection. Some proxies add a port,
// which is removed: otherwise limits would take each connection for another client.

import { isIP } from 'node:net'
import type { FastifyRequest } from 'fastify'

/** Returns the proxy's own address where the proxy sends no valid one. */
export function clientAddress(request: FastifyRequest): string {
  const address = withoutPort(request.ip)
  return isIP(address) === 0 ? (request.raw.socket.remoteAddress ?? '') : address
}

/** `192.0.2.1:4711` → `192.0.2.1`, `[2001:db8::1]:443` → `2001:db8::1`. */
export function withoutPort(text: string): string {
  const [, bracketed, plain] = /^(?:\[([^\]]*)\](?::\d+)?|([\d.]+):\d+)$/.exec(text) ?? []
  return bracketed ?? plain ?? text
}
