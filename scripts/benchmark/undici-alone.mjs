// A limit, not a peer: the same bytes over the same delayed connection by undici alone, with no filesystem between.
// Arguments: the task as JSON; prints the seconds. Requests run 16 at a time, as far as the task allows it.

import { readFile, readdir } from 'node:fs/promises'
import { join } from 'node:path'
import { Agent, request } from 'undici'
import { parallel } from './parallel.mjs'

const { group, baseUrl, key, project, source, sizeBytes, count, round } = JSON.parse(process.argv[2])
const dispatcher = new Agent({ connections: 16, pipelining: 1 })
const headers = { 'X-API-Key': key }
const atOnce = 16

function target(path) {
  return `${baseUrl}/projects/${project}/files?path=${encodeURIComponent(path)}`
}

async function record(path) {
  const { body } = await request(target(path), { headers, dispatcher })
  return body.json()
}

async function fetchBytes(url, range) {
  const { body } = await request(url, {
    dispatcher,
    headers: range === undefined ? {} : { range: `bytes=${range}` },
  })
  let bytes = 0
  for await (const chunk of body) bytes += chunk.length
  return bytes
}

async function put(path, bytes) {
  const document = {
    mimetype: path.endsWith('.mp4') ? 'video/mp4' : 'text/plain',
    filename: path,
    file_type: 'binary',
    file: bytes.toString('base64'),
  }
  const { statusCode, body } = await request(target(path), {
    method: 'PUT',
    headers: { ...headers, 'content-type': 'application/json' },
    body: JSON.stringify(document),
    dispatcher,
  })
  await body.dump()
  if (statusCode !== 201) throw new Error(`PUT ${path}: ${statusCode}`)
}

async function remove(path) {
  const { body } = await request(target(path), { method: 'DELETE', headers, dispatcher })
  await body.dump()
}

async function timed(row, action) {
  const start = performance.now()
  await action()
  process.stdout.write(`${JSON.stringify({ row, seconds: (performance.now() - start) / 1000 })}\n`)
}

const tasks = {
  list: () =>
    timed('list-cold', async () => {
      const { entries } = await record('/tree')
      await parallel(entries, atOnce, (entry) => record(`/tree/${entry.name}`))
    }),
  flat: () => timed('flat-cold', () => record('/flat')),
  sequential: () => timed('sequential-cold', async () => fetchBytes((await record('/large/film.mp4')).url)),
  async random() {
    const { url, size } = await record('/large/film.mp4')
    let state = (round + 1) * 2_654_435_761
    await timed('random', async () => {
      for (let at = 0; at < count; at++) {
        state = (Math.imul(state, 1_664_525) + 1_013_904_223) >>> 0
        const offset = (state % Math.floor(size / 4096)) * 4096
        await fetchBytes(url, `${offset}-${offset + 4095}`)
      }
    })
  },
  heads: () =>
    timed('heads', async () => {
      const { entries } = await record('/scans')
      await parallel(entries, atOnce, ({ url }) => fetchBytes(url, '0-65535'))
    }),
  grep: () =>
    timed('grep', async () => {
      const folders = (await record('/notes')).entries
      const listings = []
      await parallel(folders, atOnce, async ({ name }) => listings.push(await record(`/notes/${name}`)))
      const files = listings.flatMap(({ entries }) => entries)
      await parallel(files, atOnce, ({ url }) => fetchBytes(url))
    }),
  async 'copy-in'() {
    const names = await readdir(join(source, 'letters'))
    const paths = names.map((name) => `/undici-${process.pid}/${name}`)
    await timed('copy-in-stored', () =>
      parallel(names, atOnce, async (name, at) =>
        put(paths[at], await readFile(join(source, 'letters', name))),
      ),
    )
    await timed('remove', () => parallel(paths, atOnce, remove))
    await remove(`/undici-${process.pid}`)
  },
  async write() {
    const path = `/large/undici-${process.pid}.mp4`
    await timed('write-stored', async () => put(path, await readFile(join(source, 'film.mp4'))))
    await remove(path)
  },
}

if (sizeBytes !== undefined && sizeBytes < 0) throw new Error('no size')
// Groups that only a drive has get no task here.
await tasks[group]?.()
await dispatcher.close()
