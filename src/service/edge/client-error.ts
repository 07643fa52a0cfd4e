// Responses to bytes that Node cannot parse as an HTTP request: there is no request object, only a socket.

import { STATUS_CODES } from 'node:http'
import type { Socket } from 'node:net'
import { TLSSocket } from 'node:tls'
import { endAfterAnswers } from './request-order.ts'

/** Time that the client has to read the response before the connection is destroyed. */
const partingMs = 1_000

interface ClientError extends Error {
  readonly code?: string
}

/** Listener of Node's `clientError`. */
export function answerClientError(error: ClientError, socket: Socket): void {
  // While earlier requests wait for their responses, the client would take this one for theirs.
  if (endAfterAnswers(socket)) return
  const [status, errorMessage] = describe(error)
  answerOnSocket(socket, status, errorMessage)
}

/** Writes a response with an Error body, and closes the connection, also where the client does not close its side. */
export function answerOnSocket(socket: Socket, status: number, errorMessage: string, headers = ''): void {
  // Before the TLS handshake is complete no response can be sent.
  if (!socket.writable || (socket instanceof TLSSocket && socket.getProtocol() === null)) {
    socket.destroy()
    return
  }
  const cut = setTimeout(() => socket.destroy(), partingMs).unref()
  socket.once('close', () => clearTimeout(cut))
  const body = JSON.stringify({ errorMessage })
  socket.end(
    `HTTP/1.1 ${status} ${STATUS_CODES[status]}\r\nConnection: close\r\nContent-Type: application/json\r\n` +
      `${headers}Content-Length: ${Buffer.byteLength(body)}\r\n\r\n${body}`,
  )
}

function describe(error: ClientError): [status: number, errorMessage: string] {
  if (error.code === 'HPE_HEADER_OVERFLOW')
    return [431, 'the headers, the path included, are longer than 16 KiB']
  if (error.code === 'ERR_HTTP_REQUEST_TIMEOUT') return [408, 'the request took too long to arrive']
  return [400, `not an HTTP request: ${error.message}`]
}
