// A removed folder is one DELETE, which takes all that is in it. Where its answer is lost, what another client made there since
// is not taken by another one.

import { join } from 'node:path'
import { setTimeout as delay } from 'node:timers/promises'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { createClient, type Client } from '../../../src/api/client.ts'
import type { FileSystem } from '../../../src/fs/contract.ts'
import { createFileSystem } from '../../../src/fs/file-system.ts'
import type { Fault } from '../../support/faults/fault.ts'
import type { Calls } from '../../support/door.ts'
import { startGate, type Gate } from '../../support/gate.ts'
import { losingAnswerOfDelete } from '../../support/losing-answer.ts'
import { objectDoor } from '../../support/object-door.ts'
import { project, startTestService, type TestService } from '../../support/service.ts'
import { makeTemporaryFolder, type TemporaryFolder } from '../../support/temporary-folder.ts'
import { waitUntil } from '../../support/wait-until.ts'

let testService: TestService
let temporary: TemporaryFolder
let gate: Gate
let client: Client
let fileSystem: FileSystem
let calls: Calls

beforeEach(async () => {
  testService = await startTestService()
  await testService.other.put('/d/a.txt', 'a')
  await testService.other.put('/b.txt', 'b')
  temporary = await makeTemporaryFolder()
  gate = await startGate(() => Number(new URL(testService.baseUrl).port))
  client = createClient({ baseUrl: gate.baseUrl, apiKey: testService.apiKey })
  await emptied({})
})
afterEach(async () => {
  await fileSystem.close()
  await client.close()
  await gate[Symbol.asyncDispose]()
  await testService.close()
  await temporary.remove()
})

/** The folder, with a drive of its own, and what was in it deleted. */
async function emptied(options: { cacheTtlMs?: number }): Promise<void> {
  fileSystem = await createFileSystem({
    files: client.files(project),
    stateDir: join(temporary.path, 'state'),
    cacheDir: join(temporary.path, 'cache'),
    ...options,
  })
  calls = objectDoor(fileSystem)
  expect(await calls.readdir('/d')).toEqual(['a.txt'])
  await calls.unlink('/d/a.txt')
}

it.each(['a.txt', 'theirs.txt'])(
  'a document (%s) that another client stores between a DELETE and its repetition stays',
  async (name) => {
    const removed = losingAnswerOfDelete(gate, () => testService.other.put(`/d/${name}`, 'by another'))
    await expect(calls.rmdir('/d')).rejects.toMatchObject({ code: 'ENOTEMPTY' })
    await removed
    expect(await fileSystem.drain({ timeoutMs: 20_000 })).toEqual([])
    expect((await testService.other.bytes(`/d/${name}`)).toString()).toBe('by another')
    expect(await calls.readdir('/d')).toEqual([name])
  },
)

it('one whose DELETE is only accepted is gone when that is carried out: what is saved in it then stays', async () => {
  const target = { method: 'DELETE', path: '/d', times: 1 }
  testService.service.faults.inject({ kind: 'late-delete', ms: 1_000 }, target)
  const deletes = (): number =>
    testService.service.calls.filter(({ method, path, status }) => {
      return method === 'DELETE' && path === '/d' && status !== undefined
    }).length
  await calls.rmdir('/d')
  await calls.mkdir('/d')
  await calls.writeFile('/d/new.txt', 'new')
  expect(await fileSystem.drain({ timeoutMs: 20_000 })).toEqual([])
  await waitUntil('the DELETE to be carried out', () => deletes() === 2)
  expect((await testService.other.bytes('/d/new.txt')).toString()).toBe('new')
})

it('a document that another client stores in a folder below it, where one was removed here, stays', async () => {
  await calls.mkdir('/d/below')
  await calls.writeFile('/d/below/ours.txt', 'ours')
  expect(await fileSystem.drain({ timeoutMs: 20_000 })).toEqual([])
  await calls.unlink('/d/below/ours.txt')
  await calls.rmdir('/d/below')
  await testService.other.put('/d/below/theirs.txt', 'by another')
  await expect(calls.rmdir('/d')).rejects.toMatchObject({ code: 'ENOTEMPTY' })
  expect((await testService.other.bytes('/d/below/theirs.txt')).toString()).toBe('by another')
})

it('a document that another client stores under the folder’s name meanwhile stays', async () => {
  const removed = losingAnswerOfDelete(gate, () => testService.other.put('/d', 'by another'))
  await expect(calls.rmdir('/d')).rejects.toMatchObject({ code: 'ENOTDIR' })
  await removed
  expect((await testService.other.bytes('/d')).toString()).toBe('by another')
})

it('a DELETE whose answer is lost is not repeated where a look finds nothing, whatever a listing still shows', async () => {
  testService.service.faults.inject({ kind: 'lost-answer' }, { method: 'DELETE', times: 1 })
  testService.service.faults.inject({ kind: 'stale-listing', ageMs: 60_000 }, { method: 'GET', path: '/' })
  testService.service.clearCalls()
  await calls.rmdir('/d')
  expect(testService.service.calls.filter(({ method }) => method === 'DELETE')).toHaveLength(1)
  expect(await calls.readdir('/')).toEqual(['b.txt'])
})

it('one whose DELETE has no answer, and that a listing shows no more, is removed', async () => {
  await fileSystem.drain({ timeoutMs: 20_000 })
  await fileSystem.close()
  await testService.other.put('/d/a.txt', 'a')
  await emptied({ cacheTtlMs: 100 })
  await fileSystem.drain({ timeoutMs: 20_000 })
  await delay(300)
  // A listing decides on it: nothing keeps it here.
  await fileSystem.refresh('/')
  await delay(300)
  expect(await calls.readdir('/')).toEqual(['b.txt', 'd'])
  const lost = losingAnswerOfDelete(gate, async () => {
    testService.service.faults.inject({ kind: 'status', status: 501 }, { method: 'GET', path: '/d' })
    await fileSystem.refresh('/')
  })
  await calls.rmdir('/d')
  await lost
  expect(await calls.readdir('/')).toEqual(['b.txt'])
})

const undone: readonly Fault[] = [
  { kind: 'status', status: 503 },
  { kind: 'status', status: 429, retryAfter: 0 },
  { kind: 'cut-request', afterBytes: 0 },
]
it.each(undone)('a DELETE that is not carried out ($kind $status) is repeated', async (fault) => {
  testService.service.faults.inject(fault, { method: 'DELETE', times: 2 })
  await calls.rmdir('/d')
  expect((await testService.other.get('/'))?.entries?.map(({ name }) => name)).toEqual(['b.txt'])
})

describe('a look that is answered late', () => {
  beforeEach(async () => {
    await fileSystem.drain({ timeoutMs: 20_000 })
    await fileSystem.close()
    await testService.other.put('/d/a.txt', 'a')
    await emptied({ cacheTtlMs: 100 })
  })

  /** An rmdir whose look is answered as of when it was asked for, when `meanwhile` is done and a listing had the last word of it. */
  async function overtaken(meanwhile: () => Promise<unknown>): Promise<void> {
    const asOf = Date.now()
    gate.decide = ({ method, path }) => (method === 'GET' && path === '/d' ? 'keep' : 'pass')
    const removing = calls.rmdir('/d')
    removing.catch(() => undefined)
    await waitUntil('the look is under way', () => gate.kept === 1)
    gate.decide = () => 'pass'
    await meanwhile()
    expect(await fileSystem.drain({ timeoutMs: 20_000 })).toEqual([])
    await delay(300)
    await calls.readdir('/d')
    testService.service.faults.inject(
      { kind: 'stale-listing', asOf },
      { method: 'GET', path: '/d', times: 1 },
    )
    gate.release()
    await removing
  }

  // The delete of what was in the folder is sent after a second, and the folder gone with it: a busy machine may be slower than that.
  const again = { retry: 3 }

  it('may show what was deleted when it was asked for', again, async () => {
    await overtaken(async () => undefined)
    expect(await testService.other.get('/d')).toBeUndefined()
  })

  it('does not show what was saved since, which stays', again, async () => {
    const removing = overtaken(() => calls.writeFile('/d/new.txt', 'new'))
    await expect(removing).rejects.toMatchObject({ code: 'ENOTEMPTY' })
    expect((await testService.other.bytes('/d/new.txt')).toString()).toBe('new')
  })
})
