// Minimal HTTP/1.1 connections, so that benchmarks measure the server and not the client.

import { randomBytes } from 'node:crypto'
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

  /** Sends a request. Returns status, headers, declared length and the body's bytes; with `isCounted`, only their number. */
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

/** Returns the head of a request. `headers`: further header lines; `length`: of the body, if there is one. */
export function requestHead(method, path, headers = [], length) {
  const lines = [`${method} ${path} HTTP/1.1`, 'Host: 127.0.0.1', ...headers]
  if (length !== undefined) lines.push(`Content-Length: ${length}`)
  return `${lines.join('\r\n')}\r\n\r\n`
}

/** Sends a request: {head, body, status, isCounted}. Throws for any other status; without `status`, for any but 2xx. */
export async function send(connection, { head, body, isCounted, status }) {
  const answer = await connection.send(head, body, { isCounted })
  if (status === undefined ? answer.status >= 200 && answer.status < 300 : answer.status === status)
    return answer
  throw new Error(`${head.split('\r\n')[0]}: ${answer.status} ${answer.body ?? ''}`)
}

/** Sends one request on a connection of its own. */
export async function sendAlone(port, request) {
  const connection = await new Connection(port).open()
  return send(connection, request).finally(() => connection.close())
}

/** Runs clients that each send one request after another. Returns calls per second, and processor ms per call and part. */
export async function rate(
  { port, ports = [port], processorSeconds, parts = [processorSeconds] },
  clients,
  seconds,
  next,
) {
  const connections = await openAll(ports, clients)
  let calls = 0
  let end = performance.now() + 1000
  const loop = async (connection) => {
    for (; performance.now() < end; calls++) await send(connection, next())
  }
  await Promise.all(connections.map(loop))
  calls = 0
  const before = parts.map((part) => part())
  const start = performance.now()
  end = start + seconds * 1000
  await Promise.all(connections.map(loop))
  const taken = (performance.now() - start) / 1000
  for (const connection of connections) connection.close()
  const processorMs = parts.map((part, at) => ((part() - before[at]) * 1000) / calls)
  return { perSecond: calls / taken, processorMs }
}

/** Opens `count` connections, to the ports in turn. */
export function openAll(ports, count) {
  return Promise.all(
    Array.from({ length: count }, (_, at) => new Connection(ports[at % ports.length]).open()),
  )
}

const start = '{"mimetype":"text/plain","filename":"a","file_type":"binary","file":"'
const smallBytes = 8 * 1024
/** Random content, reused with another number at its start: new random bytes for each upload would cost too much time. */
const randomContent = randomBytes(smallBytes)
let number = 0

/** Returns a function that makes uploads. Their contents differ only in the first bytes, so that they are cheap to make. */
export function serviceUploads(project, key, bytes = smallBytes) {
  const rest = Buffer.from(randomBytes(bytes - 3).toString('base64'), 'latin1')
  return () => {
    // Three bytes are exactly four letters of base64.
    const first = Buffer.from([number >> 16, number >> 8, number]).toString('base64')
    const body = [Buffer.from(start + first), rest, Buffer.from('"}')]
    const whole = bytes > smallBytes ? body : [Buffer.concat(body)]
    return uploadOf(project, key, `/put/${number % 100}/${number++}.txt`, whole)
  }
}

/** Returns an upload with a body that is already encoded. */
export function uploadOf(project, key, path, body) {
  const length = body.reduce((sum, piece) => sum + piece.length, 0)
  const headers = [`X-API-Key: ${key}`, 'Content-Type: application/json']
  return {
    head: requestHead('PUT', `/api/projects/${project}/files?path=${path}`, headers, length),
    body,
    status: 201,
  }
}

export function bodyOf(content) {
  return [Buffer.from(start), Buffer.from(content.toString('base64'), 'latin1'), Buffer.from('"}')]
}

/** Returns a PUT for a WebDAV server. Default content: 8 KiB that differ each time. */
export function webdavUpload(content) {
  randomContent.writeUInt32LE(number, 0)
  const body = content ?? Buffer.from(randomContent)
  const path = `/${number++}.txt`
  return {
    path,
    head: requestHead('PUT', path, ['Content-Type: text/plain'], body.length),
    body,
    status: 201,
  }
}

/** Returns path and query of the download URL in the response to an upload. */
export function linkOf({ body }) {
  const { pathname, search } = new URL(JSON.parse(body).url)
  return pathname + search
}

export const pick = (list) => list[Math.floor(Math.random() * list.length)]
export const clientsTitle = (clients) => (clients === 1 ? 'one client' : `${clients} clients`)
