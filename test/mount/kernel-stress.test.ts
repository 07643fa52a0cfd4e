// Sixteen processes at once, each doing all kinds of things for a while; STRESS_SECONDS makes it longer. In the end every
// worker finds its files as it left them, and nothing is leaked.

import { mkdir, readdir, rm } from 'node:fs/promises'
import { afterEach, beforeEach, describe, expect, test } from 'vitest'
import { programFile } from '../support/build-programs.ts'
import { whyNoFuse } from '../support/fuse.ts'
import { mountMemory, type MemoryMount } from '../support/memory-mount.ts'
import { run } from '../support/run.ts'
import { waitUntil } from '../support/wait-until.ts'

const why = whyNoFuse()
const durationMs = Number(process.env['STRESS_SECONDS'] ?? 4) * 1000
const workers = 16

describe.skipIf(why !== undefined)(`many processes at once${why === undefined ? '' : ` (${why})`}`, () => {
  let drive: MemoryMount

  beforeEach(async () => {
    drive = await mountMemory({
      fileSystem: { keepCache: true, keepListing: true, entryTtlMs: 50, attributeTtlMs: 50 },
    })
  })

  afterEach(() => drive.remove())

  test(
    'keep every file as it was written, and leave no node, handle or request behind',
    async () => {
      const program = await programFile('stress')
      await mkdir(drive.at('shared'))
      await Promise.all(
        Array.from({ length: workers }, (_, index) =>
          run(process.execPath, [program, drive.path, String(index + 1), String(durationMs)], {
            limitMs: durationMs + 60_000,
          }),
        ),
      )
      for (const name of await readdir(drive.path)) await rm(drive.at(name), { recursive: true })
      await waitUntil('nothing to be held', async () => {
        const { rememberedNodes, openHandles, waiting } = await drive.counts()
        return rememberedNodes === 0 && openHandles === 0 && waiting === 0
      })
      expect(drive.stderr).toBe('')
    },
    durationMs + 120_000,
  )
})
