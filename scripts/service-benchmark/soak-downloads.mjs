// scripts/soak-downloads: see there. The documents that are read stay; what is uploaded, copied and deleted meanwhile has
// the same contents, so that whoever removes content wrongly, or answers with another's, is caught.

import { randomBytes } from 'node:crypto'
import { mkdtempSync, readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { parseArgs } from 'node:util'
import { Connection, requestHead } from './connection.mjs'
import { startService } from './servers.mjs'

const { values: options } = parseArgs({
  options: {
    minutes: { type: 'string', default: '10' },
    clients: { type: 'string', default: '64' },
    downloads: { type: 'string', default: '10000000' },
    data: { type: 'string', default: tmpdir() },
    tally: { type: 'string' },
  },
})
const sizes = [
  0, 1, 100, 8192, 8192, 8192, 20_000, 32_767, 32_768, 32_769, 100_000, 1_048_576, 1_048_577, 3_000_000,
]
const churners = 4
/** Between two rounds of one of them: the processor is for the downloads. */
const churnPauseMs = 50
const renewMs = 10 * 60_000
const folder = mkdtempSync(join(options.data, 'docmount-soak-downloads-'))
const service = await startService(folder)
const started = performance.now()
const end = started + Number(options.minutes) * 60_000
/** The last things that changed, for the report. */
const events = []
const earlier = readTally()
let went = 0
let failure

/** Counts of earlier runs with the same tally; zeros where there are none. */
function readTally() {
  try {
    return JSON.parse(readFileSync(options.tally, 'utf8'))
  } catch (error) {
    if (options.tally !== undefined && error.code !== 'ENOENT') throw error
    return { downloads: 0, seconds: 0, runs: 0 }
  }
}

/** Whole at any moment, so that a run that is killed loses a minute of its count. */
function writeTally() {
  if (options.tally === undefined) return
  const tally = {
    downloads: earlier.downloads + went,
    seconds: Math.round(earlier.seconds + (performance.now() - started) / 1000),
    runs: earlier.runs + 1,
  }
  writeFileSync(`${options.tally}.new`, `${JSON.stringify(tally)}\n`)
  renameSync(`${options.tally}.new`, options.tally)
}

function note(event) {
  events.push({ at: Math.round(performance.now() - started), ...event })
  if (events.length > 2_000) events.splice(0, 1_000)
}

const isOver = () => failure !== undefined || performance.now() > end || isDone()
const isDone = () => earlier.downloads + went >= Number(options.downloads)

function upload(path, content, mimetype = 'application/pdf') {
  const body = JSON.stringify({
    mimetype,
    filename: 'a',
    file_type: 'binary',
    file: content.toString('base64'),
  })
  return [requestHead('PUT', pathOf(path), service.key, Buffer.byteLength(body)), body]
}

const pathOf = (path) => `/api/projects/bench/files?path=${encodeURIComponent(path)}`
const linkOf = (url) => url.slice(url.indexOf('/', 'http://'.length))

async function expectStatus(connection, status, ...request) {
  const answer = await connection.send(...request)
  if (answer.status !== status)
    throw new Error(`${request[0].split('\r\n')[0]}: ${answer.status} ${answer.body}`)
  return answer
}

const documents = sizes.map((size, at) => ({ path: `/kept/${at}.pdf`, content: randomBytes(size), link: '' }))
const setUp = await new Connection(service.port).open()
for (const { path, content } of documents) await expectStatus(setUp, 201, ...upload(path, content))
setUp.close()
await renewLinks()

async function renewLinks() {
  const connection = await new Connection(service.port).open()
  for (const document of documents) {
    const answer = await expectStatus(connection, 200, requestHead('GET', pathOf(document.path), service.key))
    document.link = linkOf(JSON.parse(answer.body).url)
  }
  connection.close()
}

async function keepRenewing(signal) {
  while (await sleep(renewMs, true, { signal }).catch(() => false)) {
    await renewLinks().catch((error) => (failure ??= { renewing: error.stack }))
  }
}

/** One download of any kind, and what has to come of it. */
function anyDownload() {
  // Mostly small ones: what goes wrong does so by number, not by size.
  const among = Math.random() < 0.98 ? sizes.filter((size) => size < 100_000).length : documents.length
  const { link, content, path } = documents[Math.floor(Math.random() * among)]
  const kind = Math.random()
  const size = content.byteLength
  if (kind < 0.6 || size === 0) return { path, head: head('GET', link), status: 200, bytes: content }
  if (kind < 0.7) return { path, head: head('HEAD', link), status: 200, bytes: Buffer.alloc(0), length: size }
  const start = Math.floor(Math.random() * size)
  const last = Math.min(size - 1, start + Math.floor(Math.random() * 70_000))
  const range = `Range: bytes=${start}-${last}\r\n`
  return { path, head: head('GET', link, range), status: 206, bytes: content.subarray(start, last + 1) }
}

const head = (method, link, more = '') => `${method} ${link} HTTP/1.1\r\nHost: 127.0.0.1\r\n${more}\r\n`

async function download(connection, client) {
  const wanted = anyDownload()
  const sent = performance.now()
  const got = await connection.send(wanted.head, undefined, { isHead: wanted.head.startsWith('HEAD') })
  const isRight =
    got.status === wanted.status &&
    got.declared === (wanted.length ?? wanted.bytes.byteLength) &&
    wanted.bytes.equals(got.bytes)
  if (isRight) went++
  else failure ??= describe(wanted, got, { client, sent, answered: performance.now() })
}

function describe(wanted, got, { client, sent, answered }) {
  let firstDifference = 0
  while (firstDifference < got.bytes.length && got.bytes[firstDifference] === wanted.bytes[firstDifference])
    firstDifference++
  return {
    path: wanted.path,
    client,
    sentAt: Math.round(sent - started),
    tookMs: Math.round(answered - sent),
    request: wanted.head,
    wanted: { status: wanted.status, length: wanted.length ?? wanted.bytes.byteLength },
    got: { status: got.status, headers: got.headers, length: got.bytes.byteLength, firstDifference },
    body: got.bytes.subarray(0, 2_000).toString('latin1'),
    events: events.filter(({ at }) => at > sent - started - 2_000),
  }
}

async function read(client) {
  let connection = await new Connection(service.port).open()
  while (!isOver()) {
    try {
      await download(connection, client)
    } catch (error) {
      failure ??= {
        client,
        at: Math.round(performance.now() - started),
        error: error.stack,
        events: events.slice(-200),
      }
    }
    // A fresh connection now and then, as clients do.
    if (Math.random() < 0.001) {
      connection.close()
      connection = await new Connection(service.port).open()
    }
  }
  connection.close()
}

/** Uploads, copies and deletes documents with the contents of those that are read. */
async function churn(client) {
  const connection = await new Connection(service.port).open()
  for (let round = 0; !isOver(); round++) {
    const { content, link } = documents[Math.floor(Math.random() * (documents.length - 3))]
    const folder = `/churn/${client}/${round}`
    const copy = JSON.stringify({
      mimetype: 'application/pdf',
      filename: 'a',
      file_type: 'uri',
      file: `http://127.0.0.1:${service.port}${link}`,
    })
    const statuses = []
    const call = async (...request) => statuses.push((await connection.send(...request)).status)
    await call(...upload(`${folder}/a.pdf`, content))
    await call(requestHead('PUT', pathOf(`${folder}/b.pdf`), service.key, copy.length), copy)
    await call(requestHead('DELETE', pathOf(Math.random() < 0.5 ? folder : `${folder}/a.pdf`), service.key))
    note({ client, folder, size: content.byteLength, statuses })
    if (statuses.join() !== '201,201,204') failure ??= { client, folder, statuses, events: events.slice(-50) }
    await sleep(churnPauseMs)
  }
  connection.close()
}

const closing = new AbortController()
const renewing = keepRenewing(closing.signal)
const telling = setInterval(() => {
  console.log(`${earlier.downloads + went} downloads went well`)
  writeTally()
}, 60_000)
try {
  await Promise.all([
    ...Array.from({ length: Number(options.clients) }, (_, client) => read(client)),
    ...Array.from({ length: churners }, (_, client) => churn(client)),
  ])
} finally {
  closing.abort()
  await renewing
  clearInterval(telling)
  await service.stop()
}
writeTally()
const seconds = (performance.now() - started) / 1000
console.log(
  `${went} downloads went well in ${seconds.toFixed(0)} s, ${options.clients} clients, ${churners} that change`,
)
if (options.tally !== undefined) console.log(`${earlier.downloads + went} in ${earlier.runs + 1} runs`)
if (failure === undefined) rmSync(folder, { recursive: true, force: true })
else {
  const report = join(folder, 'failure.json')
  writeFileSync(report, JSON.stringify(failure, undefined, 2))
  console.log(
    `one did not: ${report}, beside the service's data\n${JSON.stringify({ ...failure, events: undefined }, undefined, 2)}`,
  )
  process.exitCode = 1
}
