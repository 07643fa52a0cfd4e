// One HTTP/1.1 connection with as little work as possible of our own: the client must not be what is measured.

import { once } from 'node:events'
import { connect } from 'node:net'

const headEnd = Buffer.from('\r\n\r\n')
const chunkedEnd = Buffer.from('0\r\n\r\n')

export class Connection {
  #port
  #socket
  #arrived = []
  #end
  #wake = () => {}

  constructor(port) {
    this.#port = port
  }

  async open() {
    this.#socket = connect({ port: this.#port, host: '127.0.0.1', noDelay: true })
    this.#socket.on('data', (chunk) => {
      this.#arrived.push(chunk)
      this.#wake()
    })
    this.#socket.on('error', (error) => (this.#end ??= error))
    this.#socket.on('close', () => {
      this.#end ??= new Error('the connection was closed')
      this.#wake()
    })
    await once(this.#socket, 'connect')
    return this
  }

  close() {
    this.#socket.destroy()
  }

  /** Sends a whole request, its body in one piece or several; answers status, headers, declared length and bytes (only their number with `isCounted`). */
  async send(head, body, { isCounted = false, isHead = false } = {}) {
    this.#socket.cork()
    this.#socket.write(head)
    for (const piece of body === undefined ? [] : [body].flat()) this.#socket.write(piece)
    this.#socket.uncork()
    let text = Buffer.alloc(0)
    let end = -1
    while (end === -1) {
      text = Buffer.concat([text, await this.#next()])
      end = text.indexOf(headEnd)
    }
    const headers = text.toString('latin1', 0, end)
    const status = Number(headers.slice(9, 12))
    const declared = Number(/\r\ncontent-length: (\d+)/i.exec(headers)?.[1] ?? 0)
    const isChunked = /\r\ntransfer-encoding: chunked/i.test(headers)
    const wanted = isHead || status === 204 || status === 304 ? 0 : declared
    const parts = [text.subarray(end + 4)]
    let length = parts[0].length
    while (isChunked ? !Buffer.concat(parts.slice(-2)).subarray(-5).equals(chunkedEnd) : length < wanted) {
      const chunk = await this.#next()
      length += chunk.length
      if (!isCounted) parts.push(chunk)
    }
    const bytes = isCounted ? undefined : parts.length === 1 ? parts[0] : Buffer.concat(parts)
    return {
      status,
      headers,
      declared,
      length,
      bytes,
      body: isCounted ? undefined : bytes.toString('latin1'),
    }
  }

  async #next() {
    while (this.#arrived.length === 0) {
      if (this.#end !== undefined) throw this.#end
      await new Promise((resolve) => (this.#wake = resolve))
    }
    const chunk = this.#arrived.length === 1 ? this.#arrived[0] : Buffer.concat(this.#arrived)
    this.#arrived = []
    return chunk
  }
}

export function requestHead(method, path, key, contentLength, type = 'application/json') {
  const body =
    contentLength === undefined ? '' : `Content-Type: ${type}\r\nContent-Length: ${contentLength}\r\n`
  const auth = key === undefined ? '' : `X-API-Key: ${key}\r\n`
  return `${method} ${path} HTTP/1.1\r\nHost: 127.0.0.1\r\n${auth}${body}\r\n`
}
