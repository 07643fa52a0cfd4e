// A line that the drive's own uploads fill: a late answer is the queue's fault, and the service is there all the time.

import { randomBytes } from 'node:crypto'
import { writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { describe, expect, test } from 'vitest'

import { whyNoFuse } from '../support/fuse.ts'
import { mountDrive } from '../support/mounted.ts'
import { isInstalled, run, type Ran } from '../support/run.ts'
import { startTestService } from '../support/service.ts'
import { startSlowLine, type SlowLineOptions } from '../support/slow-line.ts'
import { startSlowNamespace } from '../support/slow-namespace.ts'
import { makeTemporaryFolder } from '../support/temporary-folder.ts'

const megabit = 125_000

interface Setting {
  readonly reads: number
  /** So many begin together. */
  readonly together?: number
  readonly everyMs: number
  /** Bytes of each document that is saved. */
  readonly saved: readonly number[]
  readonly line: Omit<SlowLineOptions, 'targetPort'>
  /** A command that runs the drive. */
  readonly within?: readonly string[]
}

/** Saves all, reads while they are sent, and looks what came of both. */
async function readWhileSending({
  reads,
  together = 1,
  everyMs,
  saved,
  line: how,
  within,
}: Setting): Promise<void> {
  const temporary = await makeTemporaryFolder()
  const testService = await startTestService({ trustProxy: ['127.0.0.1'] })
  const targetPort = Number(new URL(testService.baseUrl).port)
  await using line = await startSlowLine({ ...how, targetPort })
  const { baseUrl } = line
  // Each in a folder of its own: nothing is here before it is asked for.
  for (let i = 0; i < reads; i++) await testService.other.put(`/read-${i}/a.txt`, `${i}`.repeat(3_000))
  const drive = await mountDrive({ testService, baseUrl, driver: 'kernel', folder: temporary.path, within, args: ['--close-wait', '0'] }) // prettier-ignore
  try {
    const contents = saved.map((size) => randomBytes(size))
    const local = (i: number): string => join(temporary.path, `${i}.png`)
    for (const [i, content] of contents.entries()) await writeFile(local(i), content)
    await run('timeout', ['200', 'cp', ...contents.map((_, i) => local(i)), drive.mountpoint])
    const reading: Promise<Ran>[] = []
    for (let i = 0; i < reads; i++) {
      const path = join(drive.mountpoint, `read-${i}/a.txt`)
      reading.push(run('timeout', ['150', 'cat', path], { mayFail: true, limitMs: 160_000 }))
      if ((i + 1) % together === 0) await sleep(everyMs)
    }
    const ran = await Promise.all(reading)
    expect(ran.map(({ stderr }) => stderr).filter((said) => said !== '')).toEqual([])
    expect(ran.map(({ stdout }) => stdout)).toEqual(ran.map((_, i) => `${i}`.repeat(3_000)))
    await drive.docmount(['wait', drive.mountpoint, '--timeout', '200s'], { limitMs: 210_000 })
    for (const [i, content] of contents.entries())
      expect((await testService.other.bytes(`/${i}.png`)).equals(content)).toBe(true)
    const body = saved.reduce((sum, size) => sum + (size * 4) / 3, 0)
    expect(line.sentBytes).toBeLessThan(1.15 * body)
  } finally {
    await drive.end()
    await testService.close()
    await temporary.remove()
  }
}

const eight = Array.from({ length: 8 }, () => 1_000_000)

describe.skipIf(whyNoFuse() !== undefined).concurrent('a line that own uploads fill', () => {
  test.skipIf(process.getuid?.() !== 0 || !isInstalled('tc'))(
    'a modem with a buffer of a second: reads go on, and every document is sent once',
    async () => {
      await using slow = await startSlowNamespace({ rate: '1mbit', buffer: '1.4s' })
      const line = { host: slow.host, heldBytes: 65_536 }
      await readWhileSending({
        reads: 36,
        together: 6,
        everyMs: 12_000,
        saved: eight,
        line,
        within: slow.within,
      })
    },
  )

  test('a proxy that holds 64 KiB of each connection: reads go on, and every document is sent once', async () => {
    const line = { heldBytes: 65_536, bytesPerSecond: megabit, roundTripMs: 200 }
    await readWhileSending({ reads: 48, everyMs: 1_500, saved: eight, line })
  })

  test('a proxy that takes a large document whole: reads go on, and the document is sent once', async () => {
    const line = { heldBytes: 8 * 1024 * 1024, bytesPerSecond: megabit, roundTripMs: 200 }
    await readWhileSending({ reads: 48, everyMs: 1_000, saved: [4_000_000], line })
  })
})
