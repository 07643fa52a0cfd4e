// The daemon is killed at its syncs to disk, one by one, while programs make every mutation: so between any two writes
// of journal and spool. A preloaded library counts the syncs; the product knows nothing of it.

import { writeFileSync } from 'node:fs'
import { readFile } from 'node:fs/promises'
import { join } from 'node:path'

import { afterAll, beforeAll, describe, expect, it } from 'vitest'

import { startCrashingDrive } from '../support/crashing-drive.ts'
import { whyNoFuse } from '../support/fuse.ts'
import { isInstalled, run } from '../support/run.ts'
import { makeTemporaryFolder, type TemporaryFolder } from '../support/temporary-folder.ts'
import { waitUntil } from '../support/wait-until.ts'
import { begin, expectNothingLost, give } from './crashed-mutations.ts'
import { useGatedService } from './gated-service.ts'
import { mutations } from './mutations.ts'

/** The syncs the daemon dies at. */
const syncs = Array.from({ length: 80 }, (_, index) => index + 1)
const why = whyNoFuse() ?? (isInstalled('cc') ? undefined : 'no C compiler here')

describe.skipIf(why !== undefined)('a daemon that is killed at a sync to disk', () => {
  const gated = useGatedService()
  let library: TemporaryFolder

  beforeAll(async () => {
    library = await makeTemporaryFolder()
    const source = new URL('kill-at-sync.c', import.meta.url).pathname
    await run('cc', [
      '-shared',
      '-fPIC',
      '-O2',
      '-o',
      join(library.path, 'kill.so'),
      source,
      '-ldl',
      '-lpthread',
    ])
  })
  afterAll(async () => {
    await library?.remove()
  })

  for (const [group, members] of mutations.entries()) {
    let isDone = false
    for (const sync of syncs) {
      it(`killed at sync ${sync} of ${members.map(({ title }) => title).join('; ')}: nothing is lost`, async (context) => {
        if (isDone) context.skip('everything is done before that many')
        const prefix = `/sync-${group}-${sync}`
        const temporary = await makeTemporaryFolder()
        const counter = join(temporary.path, 'counter')
        gated.gate.decide = () => 'pass'
        await give(gated.testService, members, prefix)
        const drive = await startCrashingDrive({
          folder: temporary.path,
          baseUrl: gated.gate.baseUrl,
          apiKey: gated.testService.apiKey,
          args: ['--close-wait', '1s', '--cache-ttl', '10m'],
          env: { LD_PRELOAD: join(library.path, 'kill.so'), KILL_AT_SYNC: counter },
        })
        try {
          const runs = await begin(drive, members, prefix, () => writeFileSync(counter, String(sync)))
          await waitUntil('the daemon to die or all to be done', async () => {
            if (drive.hasEnded()) return true
            if (!runs.every(({ isFinished }) => isFinished())) return false
            return drive.drain(10_000).then(
              () => true,
              () => drive.hasEnded(),
            )
          })
          isDone = !drive.hasEnded()
          if (isDone) expect(Number(await readFile(counter, 'utf8'))).toBeGreaterThan(0)
          await drive.kill()
          await Promise.all(runs.map(({ finished }) => finished))
          await expectNothingLost({ ...gated, folder: temporary.path, runs })
        } finally {
          await drive.remove()
          await temporary.remove()
        }
      })
    }
  }
})
