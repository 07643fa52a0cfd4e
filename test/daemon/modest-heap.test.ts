// How often the collector looks through the heap of a drive.

import { execFile } from 'node:child_process'
import { promisify } from 'node:util'
import { expect, test } from 'vitest'
import { growingPercent } from '../../src/daemon/modest-heap.ts'

const run = promisify(execFile)
const MiB = 1024 ** 2

/** Receives 256 MiB in pieces of a socket's size, and holds the last 24, as a reader does. Prints how often the whole heap was looked through. */
const receiving = `
  import { PerformanceObserver } from 'node:perf_hooks'
  import { setImmediate } from 'node:timers/promises'
  let collections = 0
  new PerformanceObserver((list) => {
    collections += list.getEntries().filter(({ detail }) => detail.kind === 4).length
  }).observe({ entryTypes: ['gc'] })
  const program = Array.from({ length: 100_000 }, (_, at) => ({ at }))
  if (process.argv[1] !== undefined) (await import(process.argv[1])).keepHeapModest()
  const held = []
  for (let at = 0; at < 4096; at++) {
    held[at % 384] = { bytes: Buffer.allocUnsafeSlow(64 * 1024), rest: Array.from({ length: 100 }, () => ({})) }
    if (at % 32 === 0) await setImmediate()
  }
  await setImmediate()
  if (program.length > 0) console.log(collections)`

test('a large heap grows by 40 %, a small one by 32 MiB', () => {
  expect(growingPercent(300 * MiB)).toBe(40)
  expect(growingPercent(16 * MiB)).toBe(200)
})

test('what is received does not have a small heap looked through as often as 40 % alone would', async () => {
  const modest = new URL('../../dist/daemon/modest-heap.js', import.meta.url).href
  const ours = await collectionsOf([], modest)
  expect(ours).toBeLessThan(await collectionsOf(['--heap-growing-percent=40']))
})

/** In five runs: how far marking gets beside the program, and so how often it begins, differs from one to the next. */
async function collectionsOf(flags: readonly string[], ...args: readonly string[]): Promise<number> {
  let collections = 0
  for (let runs = 0; runs < 5; runs++) {
    const { stdout } = await run(process.execPath, [
      ...flags,
      '--input-type=module',
      '-e',
      receiving,
      ...args,
    ])
    collections += Number(stdout)
  }
  return collections
}
