// A folder of 30 documents is renamed, and the daemon killed at several points on the way.

import { describe, expect, it } from 'vitest'

import { patternedBytes } from '../support/bytes.ts'
import { startCrashingDrive } from '../support/crashing-drive.ts'
import { whyNoFuse } from '../support/fuse.ts'
import { makeTemporaryFolder } from '../support/temporary-folder.ts'
import { described, driveTree, serviceTree } from '../support/trees.ts'
import { waitUntil } from '../support/wait-until.ts'
import { useGatedService } from './gated-service.ts'

const count = 30

/** Changes that have come to the service when the daemon is killed: copies up to the thirtieth, then deletions. */
const kills = [1, 7, 20, 45, 59]

describe.skipIf(whyNoFuse() !== undefined)('a folder of 30 documents', () => {
  const gated = useGatedService()

  for (const changes of kills) {
    it(`renamed, the daemon killed after ${changes} changes in the service, is wholly at its new place`, async () => {
      const folder = `/thirty-${changes}`
      const wanted = new Map<string, Buffer | undefined>([[`${folder}/new`, undefined]])
      for (let index = 0; index < count; index++) {
        const content = patternedBytes(1_000 + 97 * index, `${folder} ${index}`)
        await gated.testService.other.put(`${folder}/old/${index}.txt`, content)
        wanted.set(`${folder}/new/${index}.txt`, content)
      }
      const temporary = await makeTemporaryFolder()
      gated.gate.decide = () => 'pass'
      const options = {
        folder: temporary.path,
        baseUrl: gated.gate.baseUrl,
        apiKey: gated.testService.apiKey,
        args: ['--cache-ttl', '10m'],
      }
      const before = await startCrashingDrive({
        ...options,
        args: [...options.args, '--close-wait', '500ms'],
      })
      try {
        await driveTree(before.calls, folder)
        let changed = 0
        gated.gate.decide = ({ method }) => (method === 'GET' || ++changed <= changes ? 'pass' : 'keep')
        await before.calls.rename(`${folder}/old`, `${folder}/new`)
        await waitUntil('the point of the kill', () => changed > changes)
        await gated.gate.quiet()
        await before.kill()
        gated.gate.decide = ({ method }) => (method === 'GET' ? 'pass' : 'keep')
        const after = await startCrashingDrive(options)
        try {
          expect(described(await driveTree(after.calls, folder))).toEqual(described(wanted))
          gated.gate.decide = () => 'pass'
          gated.gate.release()
          await after.drain()
          expect(described(await driveTree(after.calls, folder))).toEqual(described(wanted))
          expect(described(await serviceTree(gated.testService.other, folder))).toEqual(described(wanted))
          await after.unmount()
        } finally {
          await after.remove()
        }
      } finally {
        await before.remove()
        await temporary.remove()
      }
    })
  }
})
