// `100 Continue` that nobody asked for: some servers and proxies send it before every answer to a body. A client has to take it
// for nothing (RFC 9110, 15.2); undici ends the connection.

import type { Socket } from 'node:net'

const begins = 'HTTP/1.1 100'
const headEnd = '\r\n\r\n'

/** From now on the socket gives its reader no `100 Continue` that comes between a request and its answer. */
export function withoutContinue<S extends Socket>(socket: S): S {
  const read = socket.read.bind(socket)
  const write = socket.write.bind(socket) as (...sent: unknown[]) => boolean
  /** Bytes that may belong to one, while an answer is awaited. */
  let pending: Buffer | undefined
  const taken = (size?: number): unknown => {
    const chunk = read(size) as Buffer | null
    if (pending === undefined || chunk === null) return chunk
    const rest = afterContinue(Buffer.concat([pending, chunk]))
    pending = rest.isUndecided ? rest.bytes : undefined
    return rest.isUndecided ? null : rest.bytes
  }
  return Object.assign(socket, {
    read: taken,
    write(...sent: unknown[]): boolean {
      if (isRequestHead(sent[0])) pending = Buffer.alloc(0)
      return write(...sent)
    },
  })
}

/** undici sends a head as one text: of a body no text begins like that. */
function isRequestHead(sent: unknown): boolean {
  return typeof sent === 'string' && /^(?:GET|PUT|POST|DELETE) \S+ HTTP\/1\.1\r\n/.test(sent)
}

/** `isUndecided`: more has to come before anybody can say whether these bytes are the answer’s. */
function afterContinue(received: Buffer): { bytes: Buffer; isUndecided: boolean } {
  let bytes = received
  for (;;) {
    const start = bytes.toString('latin1', 0, begins.length)
    if (!begins.startsWith(start)) return { bytes, isUndecided: false }
    const end = bytes.indexOf(headEnd)
    if (start !== begins || end === -1) return { bytes, isUndecided: true }
    bytes = bytes.subarray(end + headEnd.length)
  }
}
