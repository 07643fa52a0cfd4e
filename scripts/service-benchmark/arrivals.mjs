// How long a balancer's probe waits that comes on a new connection, while many downloads begin at once and nobody reads them.

import { once } from 'node:events'
import { connect } from 'node:net'
import { Worker } from 'node:worker_threads'
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
    const times = await probes(service.port, seconds)
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

/** Asked by a thread of its own: this one reads downloads. */
async function probes(port, seconds) {
  const worker = new Worker(new URL('probe-thread.mjs', import.meta.url), { workerData: { port, seconds } })
  const [times] = await once(worker, 'message')
  return times
}
