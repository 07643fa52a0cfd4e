// Programs are told apart by their processes, for as long as these live.

import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { readdirSync, writeFileSync } from 'node:fs'
import { setTimeout as sleep } from 'node:timers/promises'
import { expect, test } from 'vitest'

import { isRunning, mostPinned, programOf } from '../../src/fuse/kernel/program-of.ts'

/** As a kernel does that is short of memory: what was used lately goes at the second time. */
function dropCaches(): void {
  for (let time = 0; time < 4; time++) writeFileSync('/proc/sys/vm/drop_caches', '2')
}

/** Longer than a thread is remembered. */
const laterMs = 150

test.skipIf(process.getuid?.() !== 0)(
  'a program stays the same one where the kernel is short of memory',
  async () => {
    const program = spawn('sleep', ['100'])
    try {
      const before = programOf(program.pid!)
      expect(before).toMatch(/^\d+@\d+$/)
      dropCaches()
      await sleep(laterMs)
      expect(programOf(program.pid!)).toBe(before)
      expect(isRunning(before!)).toBe(true)
      program.kill()
      await once(program, 'exit')
      expect(isRunning(before!)).toBe(false)
      await sleep(laterMs)
      expect(programOf(program.pid!)).toBeUndefined()
    } finally {
      program.kill()
    }
  },
)

test('programs that have ended make room for others, and those that run stay', async () => {
  const openFiles = (): number => readdirSync('/proc/self/fd').length
  const before = openFiles()
  const stays = spawn('sleep', ['100'])
  try {
    const program = programOf(stays.pid!)
    for (let count = 0; count < mostPinned + 10; count++) {
      const ends = spawn('cat', { stdio: ['pipe', 'ignore', 'ignore'] })
      expect(programOf(ends.pid!)).not.toBe(program)
      ends.stdin.end()
      await once(ends, 'close')
    }
    expect(openFiles() - before).toBeLessThanOrEqual(mostPinned + 5)
    if (process.getuid?.() === 0) dropCaches()
    expect(programOf(stays.pid!)).toBe(program)
  } finally {
    stays.kill()
  }
})
