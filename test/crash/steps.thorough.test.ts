// The daemon is killed at every call it makes to the service for every mutation: before the service gets the call, and
// after it carried it out with the answer still on its way.

import { describe, expect, it } from 'vitest'

import { startCrashingDrive } from '../support/crashing-drive.ts'
import { whyNoFuse } from '../support/fuse.ts'
import { makeTemporaryFolder } from '../support/temporary-folder.ts'
import { waitUntil } from '../support/wait-until.ts'
import { begin, expectNothingLost, give } from './crashed-mutations.ts'
import { useGatedService } from './gated-service.ts'
import { mutations } from './mutations.ts'

/** More than any mutation makes: the last step has to find every program done. */
const mostCalls = 20

const everyCall = Array.from({ length: mostCalls }, (_, index) => index + 1)

describe.skipIf(whyNoFuse() !== undefined)('a daemon that is killed', () => {
  const gated = useGatedService()

  for (const verdict of ['keep', 'keep-answer'] as const) {
    const where = verdict === 'keep' ? 'before' : 'after'
    for (const [group, members] of mutations.entries()) {
      let isDone = false
      for (const step of everyCall) {
        it(`${where} call ${step} of ${members.map(({ title }) => title).join('; ')}: nothing is lost, doubled or resurrected`, async (context) => {
          if (isDone) context.skip('no mutation makes as many calls')
          isDone = (await killAt(verdict, group, step)) === 0
          if (step === mostCalls) expect(isDone).toBe(true)
        })
      }
    }
  }

  /** Answers how many mutations were under way at that call. */
  async function killAt(verdict: 'keep' | 'keep-answer', group: number, step: number): Promise<number> {
    const members = mutations[group] ?? []
    const prefix = `/${verdict}-${group}-${step}`
    const temporary = await makeTemporaryFolder()
    gated.gate.decide = () => 'pass'
    await give(gated.testService, members, prefix)
    const drive = await startCrashingDrive({
      folder: temporary.path,
      baseUrl: gated.gate.baseUrl,
      apiKey: gated.testService.apiKey,
      args: ['--close-wait', '1s', '--cache-ttl', '10m'],
    })
    try {
      const counts = new Map<string, number>()
      const watch = (): void => {
        gated.gate.decide = ({ path }) => {
          const folder = /^\/[^/]+/.exec(path)?.[0] ?? ''
          const count = (counts.get(folder) ?? 0) + 1
          counts.set(folder, count)
          if (count < step) return 'pass'
          return count === step ? verdict : 'keep'
        }
      }
      const runs = await begin(drive, members, prefix, watch)
      await waitUntil('every mutation to be done or held', async () => {
        for (const { folder, isFinished } of runs) {
          if ((counts.get(folder) ?? 0) >= step) continue
          if (!isFinished()) return false
          if ((await drive.unsent(folder)).length === 0) continue
          await drive.runNow(folder)
          return false
        }
        return true
      })
      await gated.gate.quiet()
      const reached = runs.filter(({ folder }) => (counts.get(folder) ?? 0) >= step).length
      await drive.kill()
      await Promise.all(runs.map(({ finished }) => finished))
      await expectNothingLost({ ...gated, folder: temporary.path, runs })
      return reached
    } finally {
      await drive.remove()
      await temporary.remove()
    }
  }
})
