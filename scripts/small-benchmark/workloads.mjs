// Workloads of small documents. Each on a fresh mount; `warm` is not measured: code that is compiled by then, a
// folder that was listed.

import { once } from 'node:events'
import { join } from 'node:path'
import { parallel } from '../benchmark/parallel.mjs'
import { sleep, startProgram } from '../benchmark/processes.mjs'

const newBytes = 8 * 1024
const savedBytes = 2000
const warmCount = 100
const names = 2000
const listings = 8

/** `count` of them in each of `parts` turns. */
export const workloads = {
  new: {
    title: 'COUNT new documents of 8 KiB: created, written, closed, sent',
    one: 'a new document of 8 KiB',
    server: 'service',
    async warm(context) {
      await save({ ...context, count: warmCount }, '-warm', newBytes)
    },
    async run(context, part) {
      await save(context, `-${part}`, newBytes)
    },
  },
  over: {
    title: 'COUNT documents of 2 KB saved over',
    one: 'a document of 2 KB saved over',
    server: 'service',
    async prepare(context) {
      await put({ ...context, count: warmCount }, '-warm', savedBytes + 1)
      for (let part = 0; part < context.parts; part++) await put(context, `-${part}`, savedBytes + 1)
    },
    async warm(context) {
      await save({ ...context, count: warmCount }, '-warm', savedBytes)
    },
    async run(context, part) {
      await save(context, `-${part}`, savedBytes)
    },
  },
  read: {
    title: 'COUNT documents of 8 KiB read, cold',
    one: 'a document of 8 KiB read, cold',
    server: 'service',
    async prepare(context) {
      await put({ ...context, count: warmCount }, '-warm', newBytes)
      for (let part = 0; part < context.parts; part++) await put(context, `-${part}`, newBytes)
    },
    async warm(context) {
      await read(context, '-warm')
    },
    async run(context, part) {
      await read(context, `-${part}`)
    },
  },
  'list-first': {
    title: `the first ls -l after the start, ${names.toLocaleString('en')} names, cold`,
    one: 'the first listing',
    isList: true,
    server: 'lister',
    parts: 1,
    async run({ run, at }) {
      await run('ls', ['-l', at('folder-0')])
    },
  },
  list: {
    title: `${listings} times ls -l of another folder of ${names.toLocaleString('en')} names, cold`,
    one: 'a listing',
    isList: true,
    server: 'lister',
    parts: listings,
    async warm({ run, at }) {
      for (let nth = 1; nth <= 2; nth++) await run('ls', ['-l', at(`folder-${(nth * 37) % 101}`)])
    },
    async run({ run, at }, part) {
      // Not in order: what is next in order is fetched ahead.
      await run('ls', ['-l', at(`folder-${((part + 3) * 37) % 101}`)])
    },
  },
}

/** A service that makes its listings up. */
export async function startLister(folder, undo) {
  const script = new URL('../benchmark/listing-server.mjs', import.meta.url).pathname
  const lister = startProgram(process.execPath, [script, '101', String(names)], {
    logFile: join(folder, 'lister.log'),
  })
  undo.push(() => lister.stop())
  const [port] = await once(lister.child.stdout, 'data')
  return { baseUrl: `http://127.0.0.1:${Number(String(port))}/api`, key: 'any', project: 'names' }
}

/** Saves one document after another, and waits until the service has all of them. */
async function save({ run, at, server, folder, count }, suffix, bytes) {
  const place = `${folder}${suffix}`
  const saver = new URL('../benchmark/small-saves.mjs', import.meta.url).pathname
  await run('mkdir', ['-p', at(place)])
  await run('ls', ['-l', at(place)])
  await run(process.execPath, [saver, at(place), String(count), String(bytes)], { limitSeconds: 300 })
  for (let tries = 0; ; tries++) {
    const found = await server.files.get(place).catch(() => ({ entries: [] }))
    if (found.entries.filter(({ size }) => size === bytes).length === count) return
    if (tries === 600) throw new Error(`${place}: not all of it arrived`)
    await sleep(100)
  }
}

async function read({ run, at, folder }, suffix) {
  const reader = new URL('../read-benchmark/reader.mjs', import.meta.url).pathname
  await run(process.execPath, [reader, 'heads', at(`${folder}${suffix}`)], { limitSeconds: 300 })
}

async function put({ server: { files }, folder, count }, suffix, bytes) {
  const content = {
    kind: 'bytes',
    size: bytes,
    async *open() {
      yield Buffer.alloc(bytes, 'small ')
    },
  }
  await parallel(Array.from({ length: count }), 8, async (_, at) => {
    const filename = `memo-${String(at).padStart(3, '0')}.txt`
    await files.upload(`${folder}${suffix}/${filename}`, { mimetype: 'text/plain', filename, content })
  })
}
