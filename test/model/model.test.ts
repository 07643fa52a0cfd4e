// Random work under random trouble. `DOCMOUNT_SEED=N` replays a run's choices; `scripts/soak` runs it for longer.

import { describe, expect, it } from 'vitest'

import { whyNoFuse } from '../support/fuse.ts'
import { startTestService } from '../support/service.ts'
import { makeTemporaryFolder } from '../support/temporary-folder.ts'
import { isThorough, leaveOut } from '../support/thorough.ts'
import { simulate } from './simulation.ts'

const seed = Number(process.env['DOCMOUNT_SEED'] ?? Date.now() % 1_000_000)
const minutes = Number(process.env['DOCMOUNT_SOAK_MINUTES'] ?? (isThorough ? 2 : 1 / 4))
const isSoak = process.env['DOCMOUNT_SOAK_MINUTES'] !== undefined

describe.skipIf(whyNoFuse() !== undefined)('random operations', () => {
  if (!isSoak) leaveOut('two minutes of random operations, not a quarter of one')

  it(
    'by programs, another client, a service in trouble and kill -9 lose nothing',
    async () => {
      console.log(`DOCMOUNT_SEED=${seed}`)
      const temporary = await makeTemporaryFolder()
      const testService = await startTestService()
      let shownAt = Date.now()
      try {
        const figures = await simulate({
          testService,
          folder: temporary.path,
          seed,
          durationMs: minutes * 60_000,
          workers: 12,
          renamesFolders: true,
          killEveryMs: isSoak ? 15_000 : 8_000,
          onProgress(soFar) {
            if (!isSoak || Date.now() - shownAt < 15_000) return
            shownAt = Date.now()
            console.log(JSON.stringify(soFar))
          },
        })
        console.log(JSON.stringify({ seed, ...figures, losses: 0 }))
        expect(figures.operations).toBeGreaterThan(0)
        expect(figures.doubled).toBe(0)
      } finally {
        await testService.close()
        await temporary.remove()
      }
    },
    minutes * 60_000 + 300_000,
  )
})
