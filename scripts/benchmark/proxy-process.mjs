// The network: a process of its own between every client and its server. Bytes to the server arrive `toServerMs` late and
// bytes from it `toClientMs` late, in order and at full rate. Connections are made at once. Talks over IPC:
// {open: targetPort, isSplit} → {port}, {delayMs, megabits} → {}. A request/answer protocol (HTTP) gets the whole delay on its way
// to the server: once per request. A protocol that keeps many requests under way on one connection (ssh) gets half of it
// in each direction: the same round trip.

import { connect, createServer } from 'node:net'

/** Bytes under way in one direction of one connection before its sender is held back. */
const mostUnderWay = 64 * 1024 * 1024
/** The same where the rate is limited: what the buffers on the way would hold. */
const mostWaiting = 1024 * 1024
let delayMs = 0
/** Bytes per millisecond each way, shared by all connections. */
let rate = Infinity
/** When the line to the servers, and that to the clients, has sent what it was given. */
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
