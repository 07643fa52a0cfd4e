// Answers to what is hardly HTTP: there is no request yet, only a socket.

import { STATUS_CODES } from 'node:http'
import type { Socket } from 'node:net'
import { TLSSocket } from 'node:tls'
import { endAfterAnswers } from './request-order.ts'

/** Time that a refused client has to take its answer before the connection is cut. */
const partingMs = 1_000

interface ClientError extends Error {
  readonly code?: string
}

export function answerClientError(error: ClientError, socket: Socket): void {
  // Anything said now would be taken for the answer that is under way, or for a part of it.
  if (endAfterAnswers(socket)) return
  const [status, errorMessage] = describe(error)
  answerOnSocket(socket, status, errorMessage)
}

/** Writes a whole answer with an Error body and ends the connection, also where the other side keeps its half of it. */
export function answerOnSocket(socket: Socket, status: number, errorMessage: string, headers = ''): void {
  // Behind TLS that nobody agreed on nothing can be said.
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
