// Reads a file in a pattern, and prints statistics of the reads as JSON (times in microseconds): PATTERN FILE COUNT SEED THREADS.

import { closeSync, fstatSync, openSync, readSync, readdirSync } from 'node:fs'
import { join } from 'node:path'
import { Worker, isMainThread, parentPort, workerData } from 'node:worker_threads'

const page = 4096
const mebibyte = 1024 * 1024

/** Generators of [offset, length] pairs, by pattern. */
const patterns = {
  *random(size, count, seed) {
    let state = (seed + 1) * 2_654_435_761
    for (let at = 0; at < count; at++) {
      state = (Math.imul(state, 1_664_525) + 1_013_904_223) >>> 0
      yield [(state % Math.floor(size / page)) * page, page]
    }
  },
  *sequence(size) {
    for (let at = 0; at < size; at += mebibyte) yield [at, mebibyte]
  },
  /** Reads of a viewer that searches for pages in a scanned document: 4 KiB every 68 KiB. */
  *stride(size) {
    for (let at = 0; at + page <= size; at += 68 * 1024) yield [at, page]
  },
  *backward(size) {
    for (let at = size - 64 * 1024; at >= 0; at -= 64 * 1024) yield [at, 64 * 1024]
  },
  /** Four sequential streams that take turns on one handle. */
  *interleaved(size) {
    const quarter = Math.floor(size / 4)
    for (let at = 0; at + 64 * 1024 <= quarter; at += 64 * 1024)
      for (let stream = 0; stream < 4; stream++) yield [stream * quarter + at, 64 * 1024]
  },
}

const [pattern = '', file = '', count = '0', seed = '0', threads = '1'] = isMainThread
  ? process.argv.slice(2)
  : workerData

// oxlint-disable-next-line unicorn/require-post-message-target-origin -- a thread's port has none
if (!isMainThread) parentPort.postMessage(readAll(Number(seed)))
else if (pattern === 'heads') report([readHeads()])
else if (threads === '1') report([readAll(Number(seed))])
else {
  const share = String(Math.ceil(Number(count) / Number(threads)))
  const answers = Array.from({ length: Number(threads) }, (_, at) => {
    const task = [pattern, file, share, String(Number(seed) + at)]
    const worker = new Worker(new URL(import.meta.url), { workerData: task })
    return new Promise((resolve, reject) => worker.once('message', resolve).once('error', reject))
  })
  report(await Promise.all(answers))
}

function readAll(ownSeed) {
  const fd = openSync(file, 'r')
  const { size } = fstatSync(fd)
  const buffer = Buffer.alloc(mebibyte)
  const took = []
  let bytes = 0
  const since = performance.now()
  for (const [offset, length] of patterns[pattern](size, Number(count), ownSeed)) {
    const start = performance.now()
    bytes += readSync(fd, buffer, 0, length, offset)
    took.push((performance.now() - start) * 1000)
  }
  const seconds = (performance.now() - since) / 1000
  closeSync(fd)
  return { took, bytes, seconds }
}

/** Reads the first 64 KiB of every file in the folder `file`. */
function readHeads() {
  const buffer = Buffer.alloc(64 * 1024)
  const took = []
  let bytes = 0
  const since = performance.now()
  for (const name of readdirSync(file)) {
    const start = performance.now()
    const fd = openSync(join(file, name), 'r')
    bytes += readSync(fd, buffer, 0, buffer.length, 0)
    closeSync(fd)
    took.push((performance.now() - start) * 1000)
  }
  return { took, bytes, seconds: (performance.now() - since) / 1000 }
}

/** Prints the statistics. Threads do not start at the same moment, so the total rate is the sum of their own rates. */
function report(answers) {
  const took = answers.flatMap((answer) => answer.took).sort((a, b) => a - b)
  const at = (part) => took[Math.min(took.length - 1, Math.floor(took.length * part))]
  const seconds = Math.max(...answers.map((answer) => answer.seconds))
  const bytes = answers.reduce((sum, answer) => sum + answer.bytes, 0)
  const perSecond = answers.reduce((sum, answer) => sum + answer.took.length / answer.seconds, 0)
  console.log(JSON.stringify({ reads: took.length, seconds, bytes, perSecond, p50: at(0.5), p99: at(0.99) }))
}
