// How wide the one race is that the interface leaves open: the time between the service sending the record that docmount
// checks and the DELETE that follows arriving there. In it another client's save is not seen. Needs `npm run build`.

import { once } from 'node:events'
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'

import { createServer, request } from 'node:http'
import { setTimeout as sleep } from 'node:timers/promises'

import { createClient } from '../dist/api/index.js'
import { createFileSystem } from '../dist/fs/file-system.js'
import { startService } from '../dist/service/index.js'

const saves = 100
const readWrite = { read: true, write: true, truncate: false }
const median = (values) => values.toSorted((a, b) => a - b)[Math.floor(values.length / 2)]
const percentile = (values, share) =>
  values.toSorted((a, b) => a - b)[Math.min(values.length - 1, Math.floor(values.length * share))]

/** A proxy that delivers each request late by half the latency, and each answer too, and notes the times at the service. */
async function startLateProxy(port, latencyMs, seen) {
  const server = createServer((incoming, outgoing) => void forward(incoming, outgoing))
  async function forward(incoming, outgoing) {
    const chunks = []
    for await (const chunk of incoming) chunks.push(chunk)
    await sleep(latencyMs / 2)
    const { method, url, headers } = incoming
    seen({ method, path: new URL(url, 'http://x').searchParams.get('path'), arrivedAt: performance.now() })
    const forwarded = request({ port, method, path: url, headers, agent: false })
    forwarded.end(Buffer.concat(chunks))
    const [answer] = await once(forwarded, 'response')
    const parts = []
    for await (const part of answer) parts.push(part)
    seen({
      method: `${method} answered`,
      path: new URL(url, 'http://x').searchParams.get('path'),
      arrivedAt: performance.now(),
    })
    await sleep(latencyMs / 2)
    outgoing.writeHead(answer.statusCode, answer.headers)
    outgoing.end(Buffer.concat(parts))
  }
  await new Promise((resolve) => server.listen(0, '127.0.0.1', resolve))
  return server
}

async function measure(latencyMs) {
  const folder = await mkdtemp(join(tmpdir(), 'docmount-race-'))
  const service = await startService({ dataDir: join(folder, 'service'), projects: ['race'] })
  const apiKey = await service.createKey('race')
  const events = []
  const proxy = await startLateProxy(service.port, latencyMs, (event) => events.push(event))
  const client = createClient({ baseUrl: `http://127.0.0.1:${proxy.address().port}/api`, apiKey })
  const fileSystem = await createFileSystem({
    files: client.files('race'),
    stateDir: join(folder, 'state'),
    cacheDir: join(folder, 'cache'),
  })
  const caller = {
    signal: new AbortController().signal,
    uid: process.getuid?.() ?? 0,
    gid: process.getgid?.() ?? 0,
    pid: process.pid,
  }
  const widths = []
  try {
    const made = await fileSystem.create(
      1,
      'a.txt',
      { mode: 0o644, flags: readWrite, exclusive: false },
      caller,
    )
    let { fh } = made.opened
    const { ino } = made.entry.attributes
    await fileSystem.write(fh, 0, Buffer.from('first'), caller)
    await fileSystem.flush(fh, caller)
    await fileSystem.release(fh)
    for (let save = 0; save < saves; save++) {
      events.length = 0
      ;({ fh } = await fileSystem.open(ino, readWrite, caller))
      await fileSystem.write(fh, 0, Buffer.from(`save ${save}`), caller)
      await fileSystem.flush(fh, caller)
      await fileSystem.release(fh)
      const deletion = events.find(({ method }) => method === 'DELETE')
      const check = events.findLast(
        ({ method, arrivedAt }) => method === 'GET answered' && arrivedAt < (deletion?.arrivedAt ?? 0),
      )
      if (deletion !== undefined && check !== undefined) widths.push(deletion.arrivedAt - check.arrivedAt)
    }
  } finally {
    await fileSystem.close()
    await client.close()
    proxy.close()
    await service.close()
    await rm(folder, { recursive: true, force: true })
  }
  return widths
}

console.log(
  `${saves} saves over an existing document; from the record leaving the service to the DELETE arriving, in ms`,
)
for (const latencyMs of [0, 20]) {
  const widths = await measure(latencyMs)
  console.log(
    `latency ${String(latencyMs).padStart(2)} ms   median ${median(widths).toFixed(1).padStart(6)}   p95 ${percentile(widths, 0.95).toFixed(1).padStart(6)}   largest ${Math.max(
      ...widths,
    )
      .toFixed(1)
      .padStart(6)}   (${widths.length} measured)`,
  )
}
