// The network: a process of its own between every client and its server. Bytes to the server arrive `toServerMs` late and
// bytes from it `toClientMs` late, in order and at full rate. Connections are made at once. Talks over IPC:
// {open: targetPort, isSplit} → {port}, {delayMs} → {}. A request/answer protocol (HTTP) gets the whole delay on its way
// to the server: once per request. A protocol that keeps many requests under way on one connection (ssh) gets half of it
// in each direction: the same round trip.

import { connect, createServer } from 'node:net'

/** Bytes under way in one direction of one connection before its sender is held back. */
const mostUnderWay = 64 * 1024 * 1024
let delayMs = 0

process.on('message', ({ id, open, isSplit, delay }) => {
  if (delay !== undefined) {
    delayMs = delay
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
    pass(client, upstream, isSplit ? delayMs / 2 : delayMs)
    pass(upstream, client, isSplit ? delayMs / 2 : 0)
  })
  server.listen(0, '127.0.0.1', () => process.send({ id, port: server.address().port }))
})
process.on('disconnect', () => process.exit())

function pass(from, to, lateMs) {
  if (lateMs === 0) {
    from.on('data', (chunk) => {
      if (!to.write(chunk)) from.pause()
    })
    to.on('drain', () => from.resume())
    from.on('end', () => to.end())
    return
  }
  const line = []
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
    if (from.isPaused() && underWay + to.writableLength < mostUnderWay) from.resume()
  }
  const later = (chunk) => {
    line.push({ due: performance.now() + lateMs, chunk })
    timer ??= setTimeout(deliver, lateMs)
  }
  from.on('data', (chunk) => {
    underWay += chunk.length
    if (underWay + to.writableLength >= mostUnderWay) from.pause()
    later(chunk)
  })
  to.on('drain', () => {
    if (from.isPaused()) from.resume()
  })
  from.on('end', () => later(undefined))
}
