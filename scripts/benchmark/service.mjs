// Comparison of the service and `rclone serve webdav`: requests per second with 1 and 64 clients, MB/s of a large document.
// Also measures how long other clients wait during long operations of the service.

import { randomBytes } from 'node:crypto'
import {
  bodyOf,
  clientsTitle,
  linkOf,
  openAll,
  pick,
  rate,
  requestHead,
  send,
  serviceUploads,
  uploadOf,
  webdavUpload,
} from './connection.mjs'
import { startRclone, startService } from './servers.mjs'
import { tableOf, timed } from './table.mjs'
import { waits } from './waits.mjs'

const workloads = { put, get, large, waits: undefined }

export const service = { workloads: { ...workloads, waits }, run: measureService }

async function measureService({ work, undo, chosen, isQuick, options }) {
  const seconds = Number(options.seconds ?? (isQuick ? 3 : 10))
  const isWaiting = chosen.includes('waits')
  // Without rate limits, because counting requests costs time, and rclone has none.
  const place = isWaiting && chosen.length === 1 ? ['--metrics-listen', '127.0.0.1:0'] : []
  const ours = await startService(work, { place })
  undo.push(ours.stop)
  const rclone = await startRclone(work)
  if (rclone !== undefined) undo.push(rclone.stop)
  const lines = []
  for (const name of chosen.filter((chose) => workloads[chose] !== undefined))
    lines.push(...(await workloads[name]({ ours, rclone, seconds, megabytes: isQuick ? 64 : 256 })))
  const head = ['', 'docmount serve', 'processor per call', '`rclone serve webdav`', 'processor per call']
  if (lines.length > 0) console.log(tableOf([...head, 'processor, ours : theirs'], lines))
  if (isWaiting) await waits(ours, isQuick, Number(options.documents))
}

function put({ ours, rclone, seconds }) {
  return rates('PUT 8 KiB', { ours, rclone, seconds }, serviceUploads('bench', ours.key), () =>
    webdavUpload(),
  )
}

async function get({ ours, rclone, seconds }) {
  const upload = serviceUploads('bench', ours.key)
  const links = await stored(ours, async (connection) => linkOf(await send(connection, upload())))
  const paths = await stored(rclone, async (connection) => {
    const request = webdavUpload()
    await send(connection, request)
    return request.path
  })
  const getOf = (list) => () => ({ head: requestHead('GET', pick(list)), status: 200 })
  return rates('GET 8 KiB', { ours, rclone, seconds }, getOf(links), getOf(paths))
}

/** Uploads 500 documents; returns their links or paths. */
async function stored(server, upload) {
  if (server === undefined) return []
  const [connection] = await openAll([server.port], 1)
  const found = []
  for (let at = 0; at < 500; at++) found.push(await upload(connection))
  connection.close()
  return found
}

async function rates(title, { ours, rclone, seconds }, nextOurs, nextTheirs) {
  const lines = []
  for (const clients of [1, 64]) {
    const own = await rate(ours, clients, seconds, nextOurs)
    const their = rclone && (await rate(rclone, clients, seconds, nextTheirs))
    const cells = [own, their].flatMap((found) =>
      found === undefined
        ? ['', '']
        : [`${Math.round(found.perSecond)}/s`, `${found.processorMs[0].toFixed(2)} ms`],
    )
    lines.push([
      `${title}, ${clientsTitle(clients)}`,
      ...cells,
      ratio(own.processorMs[0], their?.processorMs[0]),
    ])
  }
  return lines
}

/** Runs it three times; returns the best result. */
async function large({ ours, rclone, megabytes }) {
  const content = randomBytes(megabytes * 1024 * 1024)
  const best = { PUT: [], GET: [] }
  for (const [at, server] of [ours, rclone].entries()) {
    if (server === undefined) continue
    const [connection] = await openAll([server.port], 1)
    for (let round = 0; round < 3; round++) {
      content[round]++
      const upload =
        server === ours
          ? uploadOf('bench', ours.key, `/large-${round}.txt`, bodyOf(content))
          : webdavUpload(content)
      let link = upload.path
      await keepBest(best.PUT, at, server, async () => {
        const answer = await send(connection, upload)
        if (server === ours) link = linkOf(answer)
      })
      const download = { head: requestHead('GET', link), isCounted: true, status: 200 }
      await keepBest(best.GET, at, server, () => send(connection, download))
    }
    connection.close()
  }
  return Object.entries(best).map(([method, found]) => {
    const cells = [0, 1].flatMap((at) => {
      if (found[at] === undefined) return ['', '']
      return [
        `${Math.round((megabytes * 1.048576) / found[at].seconds)} MB/s`,
        `${found[at].cpu.toFixed(2)} s`,
      ]
    })
    return [`${method} ${megabytes} MiB, one client`, ...cells, ratio(found[0].cpu, found[1]?.cpu)]
  })
}

async function keepBest(best, at, server, work) {
  const before = server.processorSeconds()
  const seconds = await timed(work)
  const cpu = server.processorSeconds() - before
  best[at] = {
    seconds: Math.min(seconds, best[at]?.seconds ?? Infinity),
    cpu: Math.min(cpu, best[at]?.cpu ?? Infinity),
  }
}

const ratio = (ours, theirs) => (theirs === undefined ? '' : (ours / theirs).toFixed(1))
