// Real programs through both doors under random trouble. `DOCMOUNT_SEED=N` replays a run's choices; `scripts/soak --doors` runs it
// for longer.

import { describe, expect, it } from 'vitest'

import { whyNoFuse } from '../support/fuse.ts'
import { isInstalled } from '../support/run.ts'
import { makeTemporaryFolder } from '../support/temporary-folder.ts'
import { workAtBothDoors } from './both-doors.ts'

const seed = Number(process.env['DOCMOUNT_SEED'] ?? Date.now() % 1_000_000)
const minutes = Number(process.env['DOCMOUNT_SOAK_MINUTES'] ?? 1 / 4)
const isSoak = process.env['DOCMOUNT_SOAK_MINUTES'] !== undefined
const whyNot = whyNoFuse() ?? (isInstalled('curl') && isInstalled('rclone') ? undefined : 'curl and rclone')

describe.skipIf(whyNot !== undefined)('real programs at both doors', () => {
  it(
    'find what was saved last through outages and kill -9, and no copy of their own bytes',
    async () => {
      console.log(`DOCMOUNT_SEED=${seed}`)
      const temporary = await makeTemporaryFolder()
      let shownAt = Date.now()
      try {
        const figures = await workAtBothDoors({
          folder: temporary.path,
          seed,
          durationMs: minutes * 60_000,
          troubleEveryMs: isSoak ? 12_000 : 4_000,
          killEveryMs: isSoak ? 120_000 : 6_000,
          quietEveryMs: isSoak ? 120_000 : 60_000,
          peaceMs: 30_000,
          storyFile: process.env['DOCMOUNT_SOAK_STORY'],
          onProgress(soFar) {
            if (!isSoak || Date.now() - shownAt < 30_000) return
            shownAt = Date.now()
            console.log(new Date().toISOString(), JSON.stringify(soFar))
          },
        })
        console.log(JSON.stringify({ seed, ...figures, losses: 0 }))
        expect(figures.quiet).toBeGreaterThan(0)
      } finally {
        await temporary.remove()
      }
    },
    minutes * 60_000 + 1_200_000,
  )
})
