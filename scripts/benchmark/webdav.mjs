// Comparison of `docmount webdav` and `rclone serve webdav`: a large listing, small documents one after the other and eight at a
// time, upload and download of a large one. The servers take turns; the result is the best round.

import { bodyOf, openAll, requestHead, send, sendAlone, uploadOf } from './connection.mjs'
import { parallel } from './processes.mjs'
import { startRclone, startService, startWebdav } from './servers.mjs'
import { secondsCell, tableOf, timed } from './table.mjs'

export const webdav = { run: compareDoors }

async function compareDoors({ work, undo, isQuick, rounds }) {
  const [listed, small, megabytes] = isQuick ? [1_000, 50, 32] : [10_000, 500, 256]
  const service = await startService(work)
  undo.push(service.stop)
  const rclone = await startRclone(work)
  if (rclone !== undefined) undo.push(rclone.stop)
  // Made before docmount starts, because it caches listings for 30 s; for rclone through its server, which caches, too.
  await giveListing(listed, service, rclone)
  const docmount = await startWebdav(work, service)
  undo.push(docmount.stop)
  const servers = [docmount, ...(rclone === undefined ? [] : [rclone])]
  for (const server of servers)
    for (const path of ['/small', '/large']) await sendAlone(server.port, request(server, 'MKCOL', path))
  const content = Buffer.alloc(4096, 'small ')
  const large = Buffer.alloc(megabytes * 2 ** 20, 'a large document ')
  const puts = (server, round, kind) =>
    Array.from({ length: small }, (_, at) =>
      request(server, 'PUT', `/small/${kind}-${round}-${at}.txt`, content),
    )
  const listing = ['Depth: 1']
  const rows = [
    [`PROPFIND of ${listed}`, (server) => [request(server, 'PROPFIND', '/many/', undefined, listing)]],
    [`${small} PUTs of 4 KiB, one after the other`, (server, round) => puts(server, round, 'one')],
    [
      `${small} uploads of 4 KiB to the service itself, one after the other`,
      (_, round) =>
        Array.from({ length: small }, (_, at) =>
          uploadOf('bench', service.key, `/small/own-${round}-${at}`, bodyOf(content)),
        ),
      { port: service.port },
    ],
    [
      `${small} PUTs of 4 KiB, eight at a time`,
      (server, round) => puts(server, round, 'eight'),
      { lanes: 8 },
    ],
    [`PUT of ${megabytes} MiB`, (server, round) => [request(server, 'PUT', `/large/${round}.pdf`, large)]],
    [`GET of ${megabytes} MiB`, (server, round) => [request(server, 'GET', `/large/${round}.pdf`)]],
  ]
  const lines = []
  for (const [title, requestsOf, { port, lanes = 1 } = {}] of rows) {
    const best = new Map()
    for (let round = 0; round < rounds; round++)
      for (const server of port === undefined ? servers : [docmount]) {
        const connections = await openAll([port ?? server.port], lanes)
        const requests = requestsOf(server, round)
        const seconds = await timed(() => parallel(requests, lanes, (one) => sendFree(connections, one)))
        for (const connection of connections) connection.close()
        best.set(server, Math.min(seconds, best.get(server) ?? Infinity))
      }
    lines.push([title, ...[docmount, rclone].map((server) => secondsCell(best.get(server)) || '–')])
    console.error(lines.at(-1).join(', '))
  }
  console.log(tableOf(['seconds', 'docmount webdav', '`rclone serve webdav`'], lines))
}

/** Sends a request on an idle connection from the list. */
async function sendFree(connections, one) {
  const connection = connections.pop()
  await send(connection, one)
  connections.push(connection)
}

function request({ authorization }, method, path, body, headers = []) {
  const own = authorization === undefined ? [] : [`Authorization: ${authorization}`]
  return {
    head: requestHead(method, path, [...own, ...headers], body?.length),
    body,
    isCounted: method === 'GET',
  }
}

async function giveListing(count, service, rclone) {
  if (rclone !== undefined) await sendAlone(rclone.port, request(rclone, 'MKCOL', '/many'))
  const names = Array.from({ length: count }, (_, at) => `${at}.txt`)
  const [own, their] = await Promise.all([openAll([service.port], 16), rclone && openAll([rclone.port], 16)])
  await parallel(names, 16, async (name) => {
    const content = Buffer.from(name)
    if (their) await sendFree(their, request(rclone, 'PUT', `/many/${name}`, content))
    await sendFree(own, uploadOf('bench', service.key, `/many/${name}`, bodyOf(content)))
  })
  for (const connection of [...own, ...(their ?? [])]) connection.close()
}
