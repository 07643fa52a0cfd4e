// A save that the service refuses leaves there what stood there, wherever docmount can: what it then has, and which calls that took.

import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from 'vitest'
import { openSync } from 'node:fs'
import { ApiError, NetworkError } from '../../../src/api/errors.ts'
import type { Files } from '../../../src/api/types.ts'
import { versionOf } from '../../../src/content/fingerprint.ts'
import type { Intention } from '../../../src/content/intention.ts'
import { startTestService, type TestService } from '../../support/service.ts'
import { setUpCommitter, type CommitterSetup } from './committer-setup.ts'

let testService: TestService
let setup: CommitterSetup

beforeAll(async () => {
  testService = await startTestService()
})

beforeEach(async () => {
  setup = await setUpCommitter(testService)
})

afterEach(async () => {
  await setup.close()
})

afterAll(async () => {
  await testService.close()
})

const large = 'n'.repeat(512 * 1024 + 1)

const refuse = (status = 413, times = 1): unknown =>
  testService.service.faults.inject({ kind: 'status', status }, { method: 'PUT', path: '/a.txt', times })

/** A save over a version that was read here. */
async function saveOver(content: string): Promise<Intention> {
  await testService.other.put('/a.txt', 'old')
  const base = await setup.seen('/a.txt')
  const fd = openSync('/dev/null', 'w')
  await setup.reader.copyTo(versionOf('/a.txt', base), fd, { signal: new AbortController().signal })
  return setup.intend({ kind: 'put', path: '/a.txt', base, ...(await setup.content(content)) })
}

/** The same where nobody here has read what stands there. */
async function saveOverUnread(content: string): Promise<Intention> {
  await testService.other.put('/a.txt', 'old')
  const base = await setup.seen('/a.txt')
  return setup.intend({ kind: 'put', path: '/a.txt', base, ...(await setup.content(content)) })
}

/** Answers of a gateway before the service to uploads that go out alone, the first is 1; those it lets pass are undefined. */
function answering(answer: (count: number) => Error | undefined): { files: Files } {
  let count = 0
  const upload: Files['upload'] = async (...call) => {
    const error = answer(++count)
    if (error !== undefined) throw error
    return setup.files.upload(...call)
  }
  return { files: { ...setup.files, upload } }
}

const tooLarge = (): ApiError => new ApiError({ method: 'PUT', path: '/a.txt' }, 413, 'too large')
const cut = (): NetworkError => new NetworkError({ method: 'PUT', path: '/a.txt' }, 'cut', 'cut')

const changes = (): string[] => setup.calls.filter((call) => /^(PUT|DELETE)/.test(call))

describe('a save over what was read here', () => {
  it.each([400, 403, 413, 415, 422, 507])(
    'that is refused (%i) leaves there what stood there',
    async (status) => {
      const put = await saveOver('new')
      refuse(status)
      await expect(setup.run(put)).rejects.toMatchObject({ status })
      expect(changes()).toEqual(['DELETE /a.txt', 'PUT /a.txt', 'PUT /a.txt'])
      expect(await setup.held()).toEqual({ '/a.txt': 'old' })
      expect((await testService.other.get('/a.txt'))?.mimetype).toBe('text/plain')
    },
  )

  it('replaces what was put back when it is no longer refused, and keeps nothing beside it', async () => {
    const put = await saveOver('new')
    refuse()
    await expect(setup.run(put)).rejects.toMatchObject({ status: 413 })
    const [journaled = put] = setup.journal.intentions.all()
    expect(journaled).toMatchObject({ base: await setup.seen('/a.txt'), sentDigests: [] })
    await setup.run(journaled)
    expect(await setup.held()).toEqual({ '/a.txt': 'new' })
  })

  it('is asked about before anything is deleted the next time', async () => {
    const put = await saveOver('new')
    const committer = setup.committer()
    const run = (): Promise<unknown> => committer.run(put, new AbortController().signal)
    refuse()
    await expect(run()).rejects.toMatchObject({ status: 413 })
    refuse()
    testService.service.clearCalls()
    await expect(run()).rejects.toMatchObject({ status: 413 })
    expect(testService.service.calls.map(({ method }) => method)).toEqual(['GET', 'PUT'])
    expect(await setup.held()).toEqual({ '/a.txt': 'old' })
    await run()
    expect(await setup.held()).toEqual({ '/a.txt': 'new' })
  })

  it('is asked about no more once it is found there, its answer having been lost', async () => {
    const put = await saveOver('new')
    const answers = [undefined, cut()]
    const replace: Files['replace'] = async (...call) => {
      const lost = answers.shift()
      const record = await setup.files.replace(...call)
      if (lost !== undefined) throw lost
      return record
    }
    const committer = setup.committer({ files: { ...setup.files, replace } })
    const run = (intention: Intention): Promise<unknown> =>
      committer.run(intention, new AbortController().signal)
    refuse()
    await expect(run(put)).rejects.toMatchObject({ status: 413 })
    await expect(run(put)).rejects.toThrow('cut')
    await run(put)
    const base = await setup.seen('/a.txt')
    const next = setup.intend({ kind: 'put', path: '/a.txt', base, ...(await setup.content('too')) })
    testService.service.clearCalls()
    await run(next)
    expect(testService.service.calls.map(({ method }) => method)).toEqual(['GET', 'DELETE', 'PUT'])
    expect(await setup.held()).toEqual({ '/a.txt': 'too' })
  })

  it('leaves there what another client stored since', async () => {
    const put = await saveOver('new')
    const replace: Files['replace'] = async (path) => {
      await setup.files.delete(path)
      await testService.other.put(path, 'theirs')
      throw tooLarge()
    }
    await expect(setup.run(put, { files: { ...setup.files, replace } })).rejects.toMatchObject({
      status: 413,
    })
    expect(await setup.held()).toEqual({ '/a.txt': 'theirs' })
    // It is no version that may be replaced unseen.
    await setup.run(put)
    expect(new Set(Object.values(await setup.held()))).toEqual(new Set(['new', 'theirs']))
  })

  it('puts it back later where the service goes away before', async () => {
    const put = await saveOver('new')
    refuse()
    await expect(
      setup.run(
        put,
        answering((count) => (count === 1 ? cut() : undefined)),
      ),
    ).rejects.toThrow('cut')
    expect(await setup.held()).toEqual({})
    const [journaled = put] = setup.journal.intentions.all()
    refuse()
    await expect(setup.run(journaled)).rejects.toMatchObject({ status: 413 })
    expect(changes()).toEqual(['PUT /a.txt', 'PUT /a.txt'])
    expect(await setup.held()).toEqual({ '/a.txt': 'old' })
  })

  it('takes what was put back twice on its way for no other client’s', async () => {
    const put = await saveOver('new')
    refuse()
    const upload: Files['upload'] = async (...call) => {
      await setup.files.upload(...call)
      return setup.files.upload(...call)
    }
    const files = { ...setup.files, upload }
    await expect(setup.run(put, { files })).rejects.toMatchObject({ status: 413 })
    expect(await setup.held()).toEqual({ '/a.txt': 'old' })
    const [journaled = put] = setup.journal.intentions.all()
    await setup.run(journaled)
    expect(await setup.held()).toEqual({ '/a.txt': 'new' })
  })

  it('takes what was put back with no answer for no other client’s', async () => {
    const put = await saveOver('new')
    refuse()
    const files: Files = {
      ...setup.files,
      async upload(...call) {
        await setup.files.upload(...call)
        throw cut()
      },
    }
    await expect(setup.run(put, { files })).rejects.toThrow('cut')
    expect(await setup.held()).toEqual({ '/a.txt': 'old' })
    const [journaled = put] = setup.journal.intentions.all()
    await setup.run(journaled)
    expect(await setup.held()).toEqual({ '/a.txt': 'new' })
  })

  it('says that it is refused where what stood there is refused as well', async () => {
    const put = await saveOver('new')
    refuse(422, 2)
    await expect(setup.run(put)).rejects.toMatchObject({ status: 422 })
    expect(await setup.held()).toEqual({})
    refuse(422)
    // The version that stood there is not forgotten.
    await expect(setup.run(put)).rejects.toMatchObject({ status: 422 })
    expect(await setup.held()).toEqual({ '/a.txt': 'old' })
  })
})

describe('a save over that is larger than all that the service has taken', () => {
  it('deletes nothing where it is refused', async () => {
    const put = await saveOverUnread(large)
    refuse()
    await expect(setup.run(put)).rejects.toMatchObject({ status: 413 })
    expect(setup.calls).toEqual(['GET /a.txt', 'PUT /a.txt'])
    expect(await setup.held()).toEqual({ '/a.txt': 'old' })
  })

  it('is sent once more where the name is taken, and the next like it is one replace', async () => {
    const put = await saveOverUnread(large)
    const committer = setup.committer()
    await committer.run(put, new AbortController().signal)
    expect(await setup.held()).toEqual({ '/a.txt': large })
    const base = await setup.seen('/a.txt')
    const next = setup.intend({ kind: 'put', path: '/a.txt', base, ...(await setup.content(large)) })
    testService.service.clearCalls()
    await committer.run(next, new AbortController().signal)
    expect(testService.service.calls.map(({ method }) => method)).toEqual(['GET', 'DELETE', 'PUT'])
  })

  it('brings here what nobody has read by the link that came with the look', async () => {
    await setup.run(await saveOverUnread(large))
    const replace = ['DELETE /a.txt', 'PUT /a.txt']
    expect(setup.calls).toEqual(['GET /a.txt', 'PUT /a.txt', 'download /a.txt', 'GET /a.txt', ...replace])
  })

  it('leaves what nobody has read where it is refused only then', async () => {
    const put = await saveOverUnread(large)
    const replace: Files['replace'] = async (path) => {
      await setup.files.delete(path)
      throw tooLarge()
    }
    await expect(setup.run(put, { files: { ...setup.files, replace } })).rejects.toMatchObject({
      status: 413,
    })
    expect(changes()).toEqual(['PUT /a.txt', 'DELETE /a.txt', 'PUT /a.txt'])
    expect(await setup.held()).toEqual({ '/a.txt': 'old' })
  })

  it('takes the place of what stands there where there is room for one of both only', async () => {
    const put = await saveOverUnread(large)
    refuse(507)
    await setup.run(put)
    expect(changes()).toEqual(['PUT /a.txt', 'DELETE /a.txt', 'PUT /a.txt'])
    expect(await setup.held()).toEqual({ '/a.txt': large })
  })

  it('keeps no version of another client beside it where it is refused', async () => {
    const put = await saveOverUnread(large)
    await testService.other.put('/a.txt', 'theirs')
    refuse()
    await expect(setup.run(put)).rejects.toMatchObject({ status: 413 })
    expect(await setup.held()).toEqual({ '/a.txt': 'theirs' })
  })
})

it('a rename over that can neither be copied nor be sent leaves both', async () => {
  await testService.other.put('/a.txt', 'old')
  await testService.other.put('/b.txt', large)
  const [base, sourceFingerprint] = [await setup.seen('/a.txt'), await setup.seen('/b.txt')]
  const put = setup.intend({
    kind: 'put',
    path: '/a.txt',
    base,
    source: '/b.txt',
    sourceFingerprint,
    size: large.length,
  })
  refuse(413, 2)
  await expect(setup.run(put)).rejects.toMatchObject({ status: 413 })
  expect(changes()).toEqual(['PUT /a.txt', 'PUT /a.txt'])
  expect(await setup.held()).toEqual({ '/a.txt': 'old', '/b.txt': large })
})
