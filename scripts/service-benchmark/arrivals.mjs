// How long a balancer's probe waits that comes on a new connection, while many downloads begin at once and nobody reads them.

import { connect } from 'node:net'
import { Connection, requestHead } from './connection.mjs'

const megabytes = 64

/** Prints the table. */
export async function arrivals(service, downloads, seconds) {
  const body = JSON.stringify({
    mimetype: 'application/pdf',
    filename: 'a',
    file_type: 'binary',
    file: Buffer.alloc(megabytes * 1024 * 1024, 'x').toString('base64'),
  })
  const uploading = await new Connection(service.port).open()
  const head = requestHead('PUT', '/api/projects/bench/files?path=/arrivals.pdf', service.key, body.length)
  const made = await uploading.send(head, body)
  uploading.close()
  const link = new URL(JSON.parse(made.body).url)
  console.log(
    `\n| while ${downloads} downloads of ${megabytes} MiB begin | a new connection's /api/ready: median | p99 | longest | of | most memory |\n|---|--:|--:|--:|--:|--:|`,
  )
  for (const isRead of [false, true]) {
    service.forgetPeak()
    const sockets = Array.from({ length: downloads }, () => {
      const socket = connect(service.port, '127.0.0.1')
      socket.on('error', () => {})
      socket.write(`GET ${link.pathname}${link.search} HTTP/1.1\r\nHost: x\r\n\r\n`)
      if (isRead) socket.resume()
      return socket
    })
    const times = []
    const untilMs = performance.now() + seconds * 1000
    while (performance.now() < untilMs) times.push(await probe(service.port))
    for (const socket of sockets) socket.destroy()
    times.sort((a, b) => a - b)
    const at = (share) =>
      `${times[Math.min(times.length - 1, Math.floor(times.length * share))].toFixed(1)} ms`
    const name = isRead ? 'and are read' : 'and nobody reads them'
    console.log(
      `| ${[name, at(0.5), at(0.99), at(1), times.length, `${service.peakMegabytes()} MB`].join(' | ')} |`,
    )
  }
}

/** Milliseconds from the connection's beginning to the answer. */
function probe(port) {
  const begun = performance.now()
  return new Promise((resolve, reject) => {
    const socket = connect(port, '127.0.0.1')
    socket.write('GET /api/ready HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n')
    socket.once('data', (answer) => {
      socket.destroy()
      if (answer.toString().startsWith('HTTP/1.1 200')) resolve(performance.now() - begun)
      else reject(new Error(answer.toString()))
    })
    socket.once('error', reject)
  })
}
