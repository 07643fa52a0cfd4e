// One HTTP/1.1 connection with as little work as possible of our own: the client must not be what is measured.

import { once } from 'node:events'
import { connect } from 'node:net'

export class Connection {
  #port
  #socket
  #arrived = []
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
    this.#socket.on('close', () => this.#wake(new Error('the connection was closed')))
    this.#socket.on('error', () => {})
    await once(this.#socket, 'connect')
    return this
  }

  close() {
    this.#socket.destroy()
  }

  /** Sends a whole request; answers status, headers and body (its length alone with `isCounted`). */
  async send(head, body, { isCounted = false } = {}) {
    this.#socket.write(head)
    if (body !== undefined) this.#socket.write(body)
    let text = ''
    let end = -1
    while (end === -1) {
      text += (await this.#next()).toString('latin1')
      end = text.indexOf('\r\n\r\n')
    }
    const status = Number(text.slice(9, 12))
    const headers = text.slice(0, end)
    const length = Number(/\r\ncontent-length: (\d+)/i.exec(headers)?.[1] ?? Number.NaN)
    const isChunked = /\r\ntransfer-encoding: chunked/i.test(headers)
    let got = text.length - end - 4
    const parts = [text.slice(end + 4)]
    while (isChunked ? !parts.join('').endsWith('0\r\n\r\n') : got < (status === 204 ? 0 : length)) {
      const chunk = await this.#next()
      got += chunk.length
      if (!isCounted) parts.push(chunk.toString('latin1'))
    }
    return { status, headers, length: got, body: isCounted ? undefined : parts.join('') }
  }

  async #next() {
    while (this.#arrived.length === 0) {
      await new Promise((resolve, reject) => {
        this.#wake = (error) => (error === undefined ? resolve() : reject(error))
      })
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
