// Changes whose connection breaks, and that the service carries out a moment later all the same: they neither take away what was
// stored since, nor bring back what was deleted since.

import { join } from 'node:path'
import { setTimeout as delay } from 'node:timers/promises'
import { afterEach, beforeEach, expect, it } from 'vitest'
import { createClient, type Client } from '../../../src/api/client.ts'
import type { FileSystem } from '../../../src/fs/contract.ts'
import { createFileSystem } from '../../../src/fs/file-system.ts'
import type { Calls } from '../../support/door.ts'
import { startGate, type Gate } from '../../support/gate.ts'
import { objectDoor } from '../../support/object-door.ts'
import { project, startTestService, type TestService } from '../../support/service.ts'
import { makeTemporaryFolder, type TemporaryFolder } from '../../support/temporary-folder.ts'
import { serviceTexts } from '../../support/trees.ts'
import { waitUntil } from '../../support/wait-until.ts'

/** Shorter than a request may be late, and longer than the pause before the next attempt (ms). */
const lateByMs = 3_000

let testService: TestService
let temporary: TemporaryFolder
let gate: Gate
let client: Client
let fileSystem: FileSystem
let calls: Calls

async function start(): Promise<void> {
  fileSystem = await createFileSystem({
    files: client.files(project),
    stateDir: join(temporary.path, 'state'),
    cacheDir: join(temporary.path, 'cache'),
    closeWaitMs: 0,
  })
  calls = objectDoor(fileSystem)
}

beforeEach(async () => {
  testService = await startTestService()
  temporary = await makeTemporaryFolder()
  gate = await startGate(() => Number(new URL(testService.baseUrl).port))
  client = createClient({ baseUrl: gate.baseUrl, apiKey: testService.apiKey })
  await testService.other.put('/a.txt', 'first')
  await testService.other.put('/d/x.txt', 'x')
  await start()
})
afterEach(async () => {
  await fileSystem.close()
  await client.close()
  await gate[Symbol.asyncDispose]()
  await testService.close()
  await temporary.remove()
})

/** Makes the next request of this method, at this path, late; resolves when the service has carried it out. */
async function carriedOutLate(method: string, path: string): Promise<void> {
  await new Promise<void>((resolve) => {
    gate.decide = (request) => {
      if (request.method !== method || request.path !== path) return 'pass'
      gate.decide = () => 'pass'
      resolve()
      return 'late'
    }
  })
  await delay(lateByMs)
  gate.release()
  await gate.quiet()
}

async function isSent(): Promise<void> {
  await waitUntil('all to be sent', () => fileSystem.status().unsent.length === 0, 20_000)
}

const held = (): Promise<Record<string, string | undefined>> => serviceTexts(testService.other)

it('a DELETE does not take the version that was stored over the one it was meant for', async () => {
  await calls.readFile('/a.txt')
  const late = carriedOutLate('DELETE', '/a.txt')
  await calls.writeFile('/a.txt', 'second')
  await late
  await isSent()
  expect(await held()).toMatchObject({ '/a.txt': 'second' })
})

it('the DELETE of a folder does not take what is saved in a new one of its name', async () => {
  await calls.unlink('/d/x.txt')
  const late = carriedOutLate('DELETE', '/d')
  await calls.rmdir('/d')
  await calls.mkdir('/d')
  await calls.writeFile('/d/y.txt', 'y')
  await late
  await isSent()
  expect(await held()).toMatchObject({ '/d/y.txt': 'y' })
})

it('an upload does not bring back what was deleted since', async () => {
  const late = carriedOutLate('PUT', '/new.txt')
  await calls.writeFile('/new.txt', 'new')
  await waitUntil('the upload to be late', () => gate.kept > 0)
  await calls.unlink('/new.txt')
  await late
  await isSent()
  expect(await held()).not.toHaveProperty('/new.txt')
})

it('the DELETE of an earlier run does not take the version that was stored since', async () => {
  await calls.readFile('/a.txt')
  const late = carriedOutLate('DELETE', '/a.txt')
  await calls.writeFile('/a.txt', 'second')
  await waitUntil('the DELETE to be late', () => gate.kept > 0)
  await fileSystem.close()
  await start()
  await late
  await isSent()
  expect(await held()).toMatchObject({ '/a.txt': 'second' })
})
