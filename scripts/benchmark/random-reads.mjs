// Reads 4 KiB at so many random places of a file, one after another in each of so many threads: FILE COUNT SEED [THREADS].

import { closeSync, fstatSync, openSync, readSync } from 'node:fs'
import { Worker, isMainThread, workerData } from 'node:worker_threads'

const given = isMainThread ? process.argv.slice(2) : workerData
const [file = '', count = '1', seed = '0', threads = '1'] = given
if (isMainThread && Number(threads) > 1) {
  const share = String(Math.ceil(Number(count) / Number(threads)))
  for (let at = 0; at < Number(threads); at++) {
    const task = [file, share, String(Number(seed) + at)]
    const worker = new Worker(new URL(import.meta.url), { workerData: task })
    worker.on('error', (error) => {
      throw error
    })
  }
} else readAll()

function readAll() {
  const fd = openSync(file, 'r')
  const pages = Math.floor(fstatSync(fd).size / 4096)
  const buffer = Buffer.alloc(4096)
  let state = (Number(seed) + 1) * 2_654_435_761
  for (let at = 0; at < Number(count); at++) {
    state = (Math.imul(state, 1_664_525) + 1_013_904_223) >>> 0
    if (readSync(fd, buffer, 0, 4096, (state % pages) * 4096) !== 4096) throw new Error('short read')
  }
  closeSync(fd)
}
