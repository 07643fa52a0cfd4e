// Requests a second with 1 and 64 clients, and megabytes a second of one large document.

import { randomBytes } from 'node:crypto'
import { setTimeout as sleep } from 'node:timers/promises'
import { Connection, requestHead } from './connection.mjs'

const smallBytes = 8 * 1024
let number = 0

/** A content like no other, for little: making chance costs the client as much as all else it does. */
const chance = randomBytes(smallBytes)
export function smallContent() {
  chance.writeUInt32LE(number, 0)
  return chance
}

export async function put(service, rclone, seconds) {
  const rows = []
  for (const clients of [1, 64]) {
    const ours = await rate(service, clients, seconds, () => serviceUpload(service, smallContent()))
    const theirs =
      rclone && (await rate(rclone, clients, seconds, () => webdavUpload(Buffer.from(smallContent()))))
    rows.push([`PUT 8 KiB, ${named(clients)}`, ...besides(ours, theirs)])
  }
  return rows
}

export async function get(service, rclone, seconds) {
  const connection = await new Connection(service.port).open()
  const links = []
  for (let at = 0; at < 500; at++) {
    const answer = await send(connection, serviceUpload(service, smallContent()), 201)
    links.push(pathOf(JSON.parse(answer.body).url))
  }
  connection.close()
  const paths = []
  if (rclone !== undefined) {
    const connection = await new Connection(rclone.port).open()
    for (let at = 0; at < 500; at++) {
      const upload = webdavUpload(Buffer.from(smallContent()))
      await send(connection, upload, 201)
      paths.push(upload.path)
    }
    connection.close()
  }
  const rows = []
  for (const clients of [1, 64]) {
    const ours = await rate(service, clients, seconds, () => ({
      head: requestHead('GET', pick(links)),
      status: 200,
    }))
    const theirs =
      rclone &&
      (await rate(rclone, clients, seconds, () => ({ head: requestHead('GET', pick(paths)), status: 200 })))
    rows.push([`GET 8 KiB, ${named(clients)}`, ...besides(ours, theirs)])
  }
  return rows
}

export async function largeFiles(service, rclone, megabytes) {
  const content = randomBytes(megabytes * 1024 * 1024)
  const connection = await new Connection(service.port).open()
  const rows = []
  const times = { put: [], get: [], theirPut: [], theirGet: [] }
  const cpu = { put: [], get: [], theirPut: [], theirGet: [] }
  for (let round = 0; round < 3; round++) {
    const upload = serviceUpload(service, content)
    let answer
    cpu.put.push(
      await processor(service, async () => {
        times.put.push(await timed(async () => (answer = await send(connection, upload, 201))))
      }),
    )
    const head = requestHead('GET', pathOf(JSON.parse(answer.body).url))
    cpu.get.push(
      await processor(service, async () => {
        times.get.push(await timed(() => send(connection, { head, isCounted: true }, 200)))
      }),
    )
    await sleep(200)
    content[round]++
  }
  connection.close()
  if (rclone !== undefined) {
    const theirs = await new Connection(rclone.port).open()
    for (let round = 0; round < 3; round++) {
      const upload = webdavUpload(content)
      const download = { head: requestHead('GET', upload.path), isCounted: true }
      const put = async () => times.theirPut.push(await timed(() => send(theirs, upload, 201)))
      cpu.theirPut.push(await processor(rclone, put))
      const get = async () => times.theirGet.push(await timed(() => send(theirs, download, 200)))
      cpu.theirGet.push(await processor(rclone, get))
    }
    theirs.close()
  }
  const speed = (list) =>
    list.length === 0 ? '' : `${Math.round((megabytes * 1.048576) / Math.min(...list))} MB/s`
  const row = (name, ours, theirs) => {
    const took = [cpu[ours], cpu[theirs]].map((list) => Math.min(...list))
    const [own, other] = took.map((seconds) => (seconds === Infinity ? '' : `${seconds.toFixed(2)} s`))
    const cells = [speed(times[ours]), own, speed(times[theirs]), other, ratio(...took)]
    rows.push([`${name} ${megabytes} MiB, one client`, ...cells])
  }
  row('PUT', 'put', 'theirPut')
  row('GET', 'get', 'theirGet')
  return rows
}

/** Calls a second, and processor time per call of each of the server's parts, of clients that each send the next request once the last is answered. */
export async function rate(server, clients, seconds, next) {
  let calls = 0
  const { ports = [server.port], parts = [server.processorSeconds] } = server
  const connections = await Promise.all(
    Array.from({ length: clients }, (_, at) => new Connection(ports[at % ports.length]).open()),
  )
  let end = performance.now() + 1000
  const loop = async (connection) => {
    while (performance.now() < end) {
      const { status, ...request } = next()
      await send(connection, request, status)
      calls++
    }
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

export async function send(connection, { head, body, isCounted = false }, status) {
  const answer = await connection.send(head, body, { isCounted })
  if (answer.status !== status)
    throw new Error(`${head.split('\r\n')[0]}: ${answer.status} ${answer.body ?? ''}`)
  return answer
}

const start = '{"mimetype":"text/plain","filename":"a","file_type":"binary","file":"'

/** Into the project `name`. */
export function serviceUpload({ name = 'bench', key }, content) {
  const body =
    content.length > smallBytes
      ? Buffer.concat([
          Buffer.from(start),
          Buffer.from(content.toString('base64'), 'latin1'),
          Buffer.from('"}'),
        ])
      : Buffer.from(`${start}${content.toString('base64')}"}`, 'latin1')
  return uploadOf(name, key, body.length, body)
}

/** Uploads of so many bytes into the project `name`, each unlike the others, that share all of their bodies but the beginning. */
export function serviceUploads({ name, key }, bytes) {
  const rest = Buffer.from(randomBytes(bytes - 3).toString('base64'), 'latin1')
  return () => {
    // Three bytes are four letters, whatever follows them.
    const first = Buffer.from([number >> 16, number >> 8, number]).toString('base64')
    const body = [Buffer.from(start + first), rest, Buffer.from('"}')]
    const length = body.reduce((sum, piece) => sum + piece.length, 0)
    return uploadOf(name, key, length, body)
  }
}

function uploadOf(name, key, length, body) {
  const path = `/api/projects/${name}/files?path=/put/${number % 100}/${number++}.txt`
  return { head: requestHead('PUT', path, key, length), body, status: 201 }
}

function webdavUpload(content) {
  const path = `/${number++}.txt`
  return {
    path,
    head: requestHead('PUT', path, undefined, content.length, 'text/plain'),
    body: content,
    status: 201,
  }
}

async function processor(server, work) {
  const before = server.processorSeconds()
  await work()
  return server.processorSeconds() - before
}

async function timed(work) {
  const start = performance.now()
  await work()
  return (performance.now() - start) / 1000
}

const pick = (list) => list[Math.floor(Math.random() * list.length)]
const named = (clients) => (clients === 1 ? 'one client' : `${clients} clients`)
/** Calls a second and processor time per call, ours and theirs, and how many times theirs ours is. */
function besides(ours, theirs) {
  const cells = [ours, theirs].flatMap((result) =>
    result === undefined
      ? ['', '']
      : [`${Math.round(result.perSecond)}/s`, `${result.processorMs[0].toFixed(2)} ms`],
  )
  return [...cells, ratio(ours.processorMs[0], theirs?.processorMs[0] ?? Infinity)]
}
const ratio = (ours, theirs) => (theirs === Infinity ? '' : (ours / theirs).toFixed(1))
export const pathOf = (url) => url.slice(url.indexOf('/', 'http://'.length))
