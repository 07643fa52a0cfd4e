// Removal of unrequested `100 Continue` responses: some servers and proxies send one before every response to a request with a
// body. A client has to ignore it (RFC 9110, 15.2), but undici ends the connection.

import type { Socket } from 'node:net'

const continueStart = 'HTTP/1.1 100'
const headEnd = '\r\n\r\n'

/** Changes the socket so that its reader gets no `100 Continue` between a request and its response; returns it. */
export function withoutContinue<S extends Socket>(socket: S): S {
  const read = socket.read.bind(socket)
  const write = socket.write.bind(socket) as (...sent: unknown[]) => boolean
  /** Received bytes that may begin a `100 Continue`; undefined once the response has begun. */
  let pending: Buffer | undefined
  const readWithoutContinue = (size?: number): unknown => {
    const chunk = read(size) as Buffer | null
    if (pending === undefined || chunk === null) return chunk
    const rest = afterContinue(Buffer.concat([pending, chunk]))
    pending = rest.isUndecided ? rest.bytes : undefined
    return rest.isUndecided ? null : rest.bytes
  }
  return Object.assign(socket, {
    read: readWithoutContinue,
    write(...sent: unknown[]): boolean {
      if (isRequestHead(sent[0])) pending = Buffer.alloc(0)
      return write(...sent)
    },
  })
}

/** True for the headers of a request, which undici writes as one string. A body is JSON, and never begins like that. */
function isRequestHead(sent: unknown): boolean {
  return typeof sent === 'string' && /^(?:GET|PUT|POST|DELETE) \S+ HTTP\/1\.1\r\n/.test(sent)
}

/** Returns the bytes after any `100 Continue`. `isUndecided`: more bytes are needed to recognise one. */
function afterContinue(received: Buffer): { bytes: Buffer; isUndecided: boolean } {
  let bytes = received
  for (;;) {
    const start = bytes.toString('latin1', 0, continueStart.length)
    if (!continueStart.startsWith(start)) return { bytes, isUndecided: false }
    const end = bytes.indexOf(headEnd)
    if (start !== continueStart || end === -1) return { bytes, isUndecided: true }
    bytes = bytes.subarray(end + headEnd.length)
  }
}
