// A process that simulates a network between clients and servers: it forwards bytes in order, with a delay and a limited rate.
// Connecting has no delay. IPC messages: {open: targetPort, isSplit} → {port}, {delayMs, megabits} → {}. For a protocol with
// requests and responses (HTTP), the whole delay is added on the way to the server, so once per request. For one with many
// requests under way on a connection (ssh), `isSplit` adds half of it in each direction. The round trip is the same.

import { connect, createServer } from 'node:net'

/** Most bytes under way in one direction of one connection; then its sender has to wait. */
const mostUnderWay = 64 * 1024 * 1024
/** The same limit if the rate is limited, too: the size of typical network buffers. */
const mostWaiting = 1024 * 1024
let delayMs = 0
/** Bytes per millisecond each way, shared by all connections. */
let rate = Infinity
/** Time at which each direction will have sent all bytes so far. */
const freeAt = { toServer: 0, toClient: 0 }

process.on('message', ({ id, open, isSplit, delayMs: delay, megabits }) => {
  if (delay !== undefined) {
    delayMs = delay
    rate = megabits === undefined ? Infinity : (megabits * 1e6) / 8 / 1000
    process.send({ id })
    return
  }
  const server = createServer({ noDelay: true, allowHalfOpen: true }, (client) => {
    const upstream = connect({ port: open, host: '127.0.0.1', noDelay: true, allowHalfOpen: true })
    const destroy = () => {
      client.destroy()
      upstream.destroy()
    }
    for (const socket of [client, upstream]) socket.on('error', destroy).on('close', destroy)
    pass(client, upstream, isSplit ? delayMs / 2 : delayMs, 'toServer')
    pass(upstream, client, isSplit ? delayMs / 2 : 0, 'toClient')
  })
  server.listen(0, '127.0.0.1', () => process.send({ id, port: server.address().port }))
})
process.on('disconnect', () => process.exit())

function pass(from, to, lateMs, direction) {
  if (lateMs === 0 && rate === Infinity) {
    from.on('data', (chunk) => {
      if (!to.write(chunk)) from.pause()
    })
    to.on('drain', () => from.resume())
    from.on('end', () => to.end())
    return
  }
  const line = []
  const most = rate === Infinity ? mostUnderWay : mostWaiting
  let underWay = 0
  let timer
  const deliver = () => {
    timer = undefined
    const now = performance.now()
    while (line.length > 0 && line[0].due <= now) {
      const { chunk } = line.shift()
      if (chunk === undefined) to.end()
      else if (!to.destroyed) {
        underWay -= chunk.length
        to.write(chunk)
      }
    }
    if (line.length > 0) timer = setTimeout(deliver, Math.max(1, line[0].due - now))
    if (from.isPaused() && underWay + to.writableLength < most) from.resume()
  }
  const later = (chunk) => {
    const now = performance.now()
    freeAt[direction] = Math.max(now, freeAt[direction]) + (chunk?.length ?? 0) / rate
    const due = freeAt[direction] + lateMs
    line.push({ due, chunk })
    timer ??= setTimeout(deliver, due - now)
  }
  from.on('data', (chunk) => {
    underWay += chunk.length
    if (underWay + to.writableLength >= most) from.pause()
    later(chunk)
  })
  to.on('drain', () => {
    if (from.isPaused()) from.resume()
  })
  from.on('end', () => later(undefined))
}
