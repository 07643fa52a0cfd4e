// A folder of 30 documents is renamed, and the daemon killed at several points on the way.

import { afterAll, beforeAll, describe, expect, it } from 'vitest'

import { patternedBytes } from '../support/bytes.ts'
import { startCrashingDrive } from '../support/crashing-drive.ts'
import { whyNoFuse } from '../support/fuse.ts'
import { startGate, type Gate } from '../support/gate.ts'
import { startTestService, type TestService } from '../support/service.ts'
import { makeTemporaryFolder } from '../support/temporary-folder.ts'
import { described, driveTree, serviceTree } from '../support/trees.ts'
import { waitUntil } from '../support/wait-until.ts'

const count = 30

describe.skipIf(whyNoFuse() !== undefined)('a folder of 30 documents', () => {
  let testService: TestService
  let gate: Gate

  beforeAll(async () => {
    testService = await startTestService()
    gate = await startGate(() => Number(new URL(testService.baseUrl).port))
  })
  afterAll(async () => {
    await gate?.[Symbol.asyncDispose]()
    await testService?.close()
  })

  for (const changes of [1, 7, 20, 45, 59]) {
    it(`renamed, the daemon killed after ${changes} changes in the service, is wholly at its new place`, async () => {
      const folder = `/thirty-${changes}`
      const wanted = new Map<string, Buffer | undefined>([[`${folder}/new`, undefined]])
      for (let index = 0; index < count; index++) {
        const content = patternedBytes(1_000 + 97 * index, `${folder} ${index}`)
        await testService.other.put(`${folder}/old/${index}.txt`, content)
        wanted.set(`${folder}/new/${index}.txt`, content)
      }
      const temporary = await makeTemporaryFolder()
      gate.decide = () => 'pass'
      const options = {
        folder: temporary.path,
        baseUrl: gate.baseUrl,
        apiKey: testService.apiKey,
        args: ['--cache-ttl', '10m'],
      }
      const before = await startCrashingDrive({
        ...options,
        args: [...options.args, '--close-wait', '500ms'],
      })
      try {
        await driveTree(before.calls, folder)
        let changed = 0
        gate.decide = ({ method }) => (method === 'GET' || ++changed <= changes ? 'pass' : 'keep')
        await before.calls.rename(`${folder}/old`, `${folder}/new`)
        await waitUntil('the point of the kill', () => changed > changes)
        await gate.quiet()
        await before.kill()
        gate.decide = ({ method }) => (method === 'GET' ? 'pass' : 'keep')
        const after = await startCrashingDrive(options)
        try {
          expect(described(await driveTree(after.calls, folder))).toEqual(described(wanted))
          gate.decide = () => 'pass'
          gate.release()
          await after.drain()
          expect(described(await driveTree(after.calls, folder))).toEqual(described(wanted))
          expect(described(await serviceTree(testService.other, folder))).toEqual(described(wanted))
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
