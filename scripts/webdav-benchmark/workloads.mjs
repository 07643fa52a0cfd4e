// Workloads: a listing of many, many small documents one after the other and eight at a time, a large one up and
// down. The best of three, the two servers in turn.

import { Agent, request } from 'node:http'

const rounds = 3

export async function workloads({ listed, small, largeBytes }, { service, docmount, rclone }) {
  const servers = rclone === undefined ? [docmount] : [docmount, rclone]
  for (const server of servers) {
    server.agent ??= new Agent({ keepAlive: true, maxSockets: 8 })
    await ask(server, 'MKCOL', '/small')
    await ask(server, 'MKCOL', '/large')
  }
  const content = Buffer.alloc(4096, 'small ')
  const large = Buffer.alloc(largeBytes, 'a large document ')
  const megabytes = largeBytes / 2 ** 20
  const names = (round, kind) =>
    Array.from({ length: small }, (_, index) => `/small/${kind}-${round}-${index}.txt`)
  const put = (server, path, body = content) => ask(server, 'PUT', path, { body })
  const rows = [
    [`PROPFIND of ${listed}`, (server) => ask(server, 'PROPFIND', '/many/', { headers: { depth: '1' } })],
    [
      `${small} PUTs of 4 KiB, one after the other`,
      async (server, round) => {
        for (const path of names(round, 'one')) await put(server, path)
      },
    ],
    [
      `${small} uploads of 4 KiB to the service itself, one after the other`,
      async (_, round) => {
        for (const path of names(round, 'itself')) await upload(service, path, content)
      },
      [docmount],
    ],
    [
      `${small} PUTs of 4 KiB, eight at a time`,
      async (server, round) => {
        const left = names(round, 'eight')
        const lane = async () => {
          for (let path = left.pop(); path !== undefined; path = left.pop()) await put(server, path)
        }
        await Promise.all(Array.from({ length: 8 }, lane))
      },
    ],
    [`PUT of ${megabytes} MiB`, (server, round) => put(server, `/large/${round}.pdf`, large)],
    [`GET of ${megabytes} MiB`, (server, round) => ask(server, 'GET', `/large/${round}.pdf`)],
  ]
  const table = []
  for (const [title, work, asked = servers] of rows) {
    const best = new Map(asked.map((server) => [server, Infinity]))
    for (let round = 0; round < rounds; round++) {
      for (const server of asked) {
        const begun = performance.now()
        await work(server, round)
        best.set(server, Math.min(best.get(server), (performance.now() - begun) / 1000))
      }
    }
    const none = rclone === undefined ? 'not installed' : '–'
    const cells = [docmount, rclone].map((server) => best.get(server)?.toFixed(2) ?? none)
    table.push([title, ...cells])
    console.error(title, ...cells)
  }
  for (const { agent } of [...servers, service]) agent.destroy()
  return table
}

/** Into docmount's service, and through rclone, which would not look again. */
export async function giveListing(count, { service, rclone }) {
  const paths = Array.from({ length: count }, (_, index) => `${index}.txt`)
  if (rclone !== undefined) {
    rclone.agent = new Agent({ keepAlive: true, maxSockets: 8 })
    await ask(rclone, 'MKCOL', '/many')
  }
  const lane = async () => {
    for (let name = paths.pop(); name !== undefined; name = paths.pop()) {
      if (rclone !== undefined) await ask(rclone, 'PUT', `/many/${name}`, { body: Buffer.from(name) })
      await upload(service, `/many/${name}`, Buffer.from(name))
    }
  }
  await Promise.all(Array.from({ length: 16 }, lane))
}

function upload(service, path, content) {
  const { hostname, port, pathname } = new URL(service.baseUrl)
  service.agent ??= new Agent({ keepAlive: true, maxSockets: 8 })
  const file = content.toString('base64')
  const document = { mimetype: 'text/plain', filename: path, file_type: 'binary', file }
  return ask(
    { host: hostname, port, agent: service.agent },
    'PUT',
    `${pathname}/projects/bench/files?path=${path}`,
    {
      headers: { 'x-api-key': service.key, 'content-type': 'application/json' },
      body: Buffer.from(JSON.stringify(document)),
    },
  )
}

/** Throws unless it is answered with 2xx; the body is read and dropped. */
function ask({ host = '127.0.0.1', port, agent, authorization }, method, path, { headers = {}, body } = {}) {
  return new Promise((resolve, reject) => {
    const asked = request(
      {
        host,
        port,
        agent,
        method,
        path,
        headers: {
          ...headers,
          ...(authorization === undefined ? {} : { authorization }),
          ...(body === undefined ? {} : { 'content-length': body.length }),
        },
      },
      (answer) => {
        answer.resume()
        answer.on('error', reject)
        answer.on('end', () => {
          if (Math.floor(answer.statusCode / 100) === 2) resolve()
          else reject(new Error(`${method} ${path}: ${answer.statusCode}`))
        })
      },
    )
    asked.on('error', reject)
    asked.end(body)
  })
}
