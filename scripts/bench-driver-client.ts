// The user of a drive that `bench-driver` measures: a process of its own, which makes system calls and counts. Prints JSON.

import { closeSync, openSync, writeSync } from 'node:fs'
import koffi from 'koffi'

const [measure = '', path = '', amount = '1'] = process.argv.slice(2)

/** statx(2) that may not be answered from the kernel's cache: exactly one GETATTR, whatever the times to live. */
function makeStat(): (path: string) => number {
  const buffer = Buffer.alloc(256)
  const statx = koffi.load(null).func('int statx(int, const char *, int, unsigned int, void *)')
  const [atCurrentFolder, forceSync, basicStats] = [-100, 0x2000, 0x7ff]
  return (file) => statx(atCurrentFolder, file, forceSync, basicStats, buffer) as number
}

/** One call after the other for some milliseconds. */
function roundTrips(durationMs: number): { medianUs: number; perSecond: number } {
  const stat = makeStat()
  for (let warm = 0; warm < 3000; warm++) stat(path)
  const times: number[] = []
  const start = performance.now()
  let last = start
  while (last - start < durationMs) {
    if (stat(path) !== 0) throw new Error(`statx of ${path} failed`)
    const end = performance.now()
    times.push((end - last) * 1000)
    last = end
  }
  return { medianUs: median(times), perSecond: (times.length / (last - start)) * 1000 }
}

/** Makes, writes and closes `count` files of 100 bytes. */
function creations(count: number): { medianUs: number } {
  const data = Buffer.alloc(100)
  const times = Array.from({ length: count }, (_, index) => {
    const start = performance.now()
    const fd = openSync(`${path}/created-${index}`, 'wx')
    writeSync(fd, data)
    closeSync(fd)
    return (performance.now() - start) * 1000
  })
  return { medianUs: median(times) }
}

function median(values: number[]): number {
  return values.sort((a, b) => a - b)[values.length >> 1] ?? Number.NaN
}

const result = measure === 'round-trips' ? roundTrips(Number(amount)) : creations(Number(amount))
console.log(JSON.stringify(result))
