// How the service is made to agree with one intention: what it has afterwards, and which calls that took.

import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from 'vitest'
import { ApiError, NetworkError } from '../../../src/api/errors.ts'
import type { Files } from '../../../src/api/types.ts'
import type { CommitterOptions } from '../../../src/content/commit/committer.ts'
import { merge, type Intention } from '../../../src/content/intention.ts'
import type { Timers } from '../../../src/world/clock.ts'
import { heldTimers } from '../../support/held-timers.ts'
import { startTestService, type TestService } from '../../support/service.ts'
import { waitUntil } from '../../support/wait-until.ts'
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

/** The other client's, before the run. */
async function given(documents: Readonly<Record<string, string>>): Promise<void> {
  for (const [path, content] of Object.entries(documents)) await testService.other.put(path, content)
}

const inject: TestService['service']['faults']['inject'] = (...fault) =>
  testService.service.faults.inject(...fault)

/** The copies that were kept of other clients' versions. */
function keptCopies(held: Readonly<Record<string, string | undefined>>): (string | undefined)[] {
  return Object.entries(held).flatMap(([path, content]) =>
    / \(conflict .* desk\)/.test(path) ? [content] : [],
  )
}

const lookedAtMissing = (path: string): string[] => [`GET ${path}`, 'GET /']

describe('new content', () => {
  it('goes to a name where nothing is known to be in one call, and waits for no disk', async () => {
    const put = setup.intend({ kind: 'put', path: '/a.txt', ...(await setup.content('new')) })
    expect(await setup.run(put)).toMatchObject({ name: 'a.txt', size: 3, mimetype: 'text/plain' })
    expect(setup.calls).toEqual(['PUT /a.txt'])
    expect(setup.told).toEqual([])
    expect(await setup.held()).toEqual({ '/a.txt': 'new' })
  })

  it('that took the place of content that was never sent is on disk before it is sent', async () => {
    const put = setup.intend(
      { kind: 'put', path: '/a.txt', ...(await setup.content('new')) },
      { replacesUndurableRow: true },
    )
    await setup.run(put)
    expect(setup.told).toEqual(['secure'])
    expect(setup.calls).toEqual(['PUT /a.txt'])
  })

  it('that is empty is a document all the same', async () => {
    await setup.run(setup.intend({ kind: 'put', path: '/d/a.txt', ...(await setup.content('')) }))
    expect(await setup.held()).toEqual({ '/d': undefined, '/d/a.txt': '' })
  })

  it('whose answer does not tell the version is asked for once more', async () => {
    inject({ kind: 'omit-fields', fields: ['size', 'modified_at'] }, { method: 'PUT' })
    const put = setup.intend({ kind: 'put', path: '/a.txt', ...(await setup.content('new')) })
    const record = await setup.run(put)
    expect(setup.calls).toEqual(['PUT /a.txt', 'GET /a.txt'])
    expect(`${record?.size}@${record?.modifiedAt}`).toBe(await setup.seen('/a.txt'))
  })

  it('that finds its name taken keeps what stands there beside it: looks, copies, looks, deletes, uploads', async () => {
    await given({ '/a.txt': 'theirs' })
    await setup.run(setup.intend({ kind: 'put', path: '/a.txt', ...(await setup.content('ours')) }))
    const held = await setup.held()
    expect(held['/a.txt']).toBe('ours')
    expect(keptCopies(held)).toEqual(['theirs'])
    const [copy] = Object.keys(held).filter((path) => path !== '/a.txt')
    expect(setup.calls).toEqual([
      'PUT /a.txt',
      'GET /a.txt',
      `PUT ${copy}`,
      'GET /a.txt',
      'DELETE /a.txt',
      'PUT /a.txt',
    ])
    expect(setup.told).toEqual(['secure', `kept ${copy}`, 'secure', 'preserve /a.txt'])
  })

  it('that finds its name taken keeps also what another client stores while that is kept', async () => {
    await given({ '/a.txt': 'theirs' })
    const storedMeanwhile = ['theirs, too', 'theirs again']
    const upload: Files['upload'] = async (path, ...call) => {
      const record = await setup.files.upload(path, ...call)
      const theirs = path === '/a.txt' ? undefined : storedMeanwhile.shift()
      if (theirs !== undefined) await testService.other.put('/a.txt', theirs)
      return record
    }
    const files = { ...setup.files, upload }
    const put = setup.intend({ kind: 'put', path: '/a.txt', ...(await setup.content('ours')) })
    await expect(setup.run(put, { files })).rejects.toMatchObject({ code: 'ESTALE' })
    await setup.run(put, { files })
    const held = await setup.held()
    expect(held['/a.txt']).toBe('ours')
    expect(new Set(Object.values(held))).toEqual(new Set(['ours', 'theirs', 'theirs, too', 'theirs again']))
  })

  it('does not take the place of a folder', async () => {
    await given({ '/a.txt/inside.txt': 'theirs' })
    const put = setup.intend({ kind: 'put', path: '/a.txt', ...(await setup.content('ours')) })
    await expect(setup.run(put)).rejects.toMatchObject({ code: 'EISDIR' })
    expect(setup.calls).toEqual(['PUT /a.txt', 'GET /a.txt'])
    expect(await setup.held()).toEqual({ '/a.txt': undefined, '/a.txt/inside.txt': 'theirs' })
  })

  it('gives up for now where its name is taken three times in a row, and nothing is found there', async () => {
    inject({ kind: 'status', status: 409 }, { method: 'PUT' })
    const put = setup.intend({ kind: 'put', path: '/a.txt', ...(await setup.content('ours')) })
    await expect(setup.run(put)).rejects.toMatchObject({ status: 409 })
    const look = lookedAtMissing('/a.txt')
    expect(setup.calls).toEqual(['PUT /a.txt', ...look, 'PUT /a.txt', ...look, 'PUT /a.txt'])
  })
})

describe('a save over a version that this mount has seen', () => {
  it('replaces it once it survives a power cut: looks, deletes, uploads', async () => {
    await given({ '/a.txt': 'old' })
    const base = await setup.seen('/a.txt')
    const put = setup.intend({ kind: 'put', path: '/a.txt', base, ...(await setup.content('new')) })
    await setup.run(put)
    expect(setup.calls).toEqual(['GET /a.txt', 'DELETE /a.txt', 'PUT /a.txt'])
    expect(setup.told).toEqual(['secure', 'secure', 'preserve /a.txt'])
    expect(await setup.held()).toEqual({ '/a.txt': 'new' })
  })

  it('destroys nothing where the disk does not take it', async () => {
    await given({ '/a.txt': 'old' })
    const base = await setup.seen('/a.txt')
    const put = setup.intend({ kind: 'put', path: '/a.txt', base, ...(await setup.content('new')) })
    const secure = async (): Promise<void> => {
      throw Object.assign(new Error('no space left'), { code: 'ENOSPC' })
    }
    await expect(setup.run(put, { secure })).rejects.toMatchObject({ code: 'ENOSPC' })
    expect(setup.calls).toEqual([])
    expect(await setup.held()).toEqual({ '/a.txt': 'old' })
  })

  it('destroys nothing before those who have it open have its bytes', async () => {
    await given({ '/a.txt': 'old' })
    const base = await setup.seen('/a.txt')
    const put = setup.intend({ kind: 'put', path: '/a.txt', base, ...(await setup.content('new')) })
    const preserve = async (): Promise<void> => {
      throw Object.assign(new Error('no space left'), { code: 'ENOSPC' })
    }
    await expect(setup.run(put, { ask: { ...setup.ask, preserve } })).rejects.toMatchObject({
      code: 'ENOSPC',
    })
    expect(setup.calls).toEqual(['GET /a.txt'])
    expect(await setup.held()).toEqual({ '/a.txt': 'old' })
  })

  const inTurn = ['GET /a.txt', 'DELETE /a.txt', 'PUT /a.txt']

  it('too large to be held in memory is deleted first, and sent then', async () => {
    await given({ '/a.txt': 'old' })
    const base = await setup.seen('/a.txt')
    const content = await setup.content(Buffer.alloc(1024 * 1024 + 1, 'x'))
    const replace = (): never => expect.unreachable()
    await setup.run(setup.intend({ kind: 'put', path: '/a.txt', base, ...content }), {
      files: { ...setup.files, replace },
    })
    // The service had taken nothing as large from here, so it was asked before.
    expect(setup.calls.filter((call) => !/^GET|^download/.test(call))).toEqual([
      'PUT /a.txt',
      'DELETE /a.txt',
      'PUT /a.txt',
    ])
    expect((await setup.held())['/a.txt']).toHaveLength(1024 * 1024 + 1)
  })

  it('whose delete fails for the moment looks again, deletes, and sends then', async () => {
    await given({ '/a.txt': 'old' })
    const base = await setup.seen('/a.txt')
    inject({ kind: 'status', status: 500 }, { method: 'DELETE', times: 1 })
    await setup.run(setup.intend({ kind: 'put', path: '/a.txt', base, ...(await setup.content('new')) }))
    expect(setup.calls).toEqual(['GET /a.txt', 'DELETE /a.txt', 'PUT /a.txt', ...inTurn])
    expect(await setup.held()).toEqual({ '/a.txt': 'new' })
  })

  it('whose delete was carried out and answered with an error succeeds', async () => {
    await given({ '/a.txt': 'old' })
    const base = await setup.seen('/a.txt')
    inject({ kind: 'error-after-commit' }, { method: 'DELETE', times: 1 })
    await setup.run(setup.intend({ kind: 'put', path: '/a.txt', base, ...(await setup.content('new')) }))
    expect(setup.calls).toEqual(inTurn)
    expect(await setup.held()).toEqual({ '/a.txt': 'new' })
  })

  it.each(['lost-answer', 'cut-request', 'error-after-commit', 'status'] as const)(
    'whose upload fails after the delete (%s) is sent from the spool the next time, once',
    async (kind) => {
      await given({ '/a.txt': 'old' })
      const base = await setup.seen('/a.txt')
      const fault =
        kind === 'cut-request'
          ? { kind, afterBytes: 1 }
          : kind === 'status'
            ? { kind, status: 503 }
            : { kind }
      inject(fault, { method: 'PUT', times: 1 })
      const put = setup.intend({ kind: 'put', path: '/a.txt', base, ...(await setup.content('new')) })
      await expect(setup.run(put)).rejects.toThrow('PUT /a.txt')
      expect(setup.calls).toEqual(inTurn)
      const isStored = kind === 'lost-answer' || kind === 'error-after-commit'
      expect(await setup.held()).toEqual(isStored ? { '/a.txt': 'new' } : {})
      const [journaled] = setup.journal.intentions.all()
      await setup.run(journaled ?? put)
      expect(setup.calls.filter((call) => call.startsWith('PUT'))).toHaveLength(isStored ? 0 : 1)
      expect(await setup.held()).toEqual({ '/a.txt': 'new' })
    },
  )

  it.each(['lost-answer', 'cut-response'] as const)(
    'whose connection breaks at the delete (%s) comes to the same end the next time',
    async (kind) => {
      await given({ '/a.txt': 'old' })
      const base = await setup.seen('/a.txt')
      inject(kind === 'lost-answer' ? { kind } : { kind, afterBytes: 1 }, { method: 'DELETE', times: 1 })
      const put = setup.intend({ kind: 'put', path: '/a.txt', base, ...(await setup.content('new')) })
      await setup.run(put).catch(() => undefined)
      const [journaled] = setup.journal.intentions.all()
      await setup.run(journaled ?? put)
      expect(await setup.held()).toEqual({ '/a.txt': 'new' })
    },
  )

  it('finds its way where a proxy turns the two round, and sends them one by one from then on', async () => {
    await given({ '/a.txt': 'old', '/b.txt': 'old' })
    let together = 0
    const { files } = setup
    const committer = setup.committer({
      files: {
        ...files,
        async replace(...call) {
          together++
          const outcome = files.upload(...call)
          await outcome.catch(() => files.delete(call[0]))
          return outcome
        },
      },
    })
    for (const path of ['/a.txt', '/b.txt']) {
      const base = await setup.seen(path)
      const put = setup.intend({ kind: 'put', path, base, ...(await setup.content('new')) })
      await committer.run(put, new AbortController().signal)
    }
    expect(together).toBe(1)
    expect(await setup.held()).toEqual({ '/a.txt': 'new', '/b.txt': 'new' })
  })

  it('is an upload where another client has deleted it', async () => {
    await given({ '/a.txt': 'old' })
    const base = await setup.seen('/a.txt')
    await testService.other.delete('/a.txt')
    await setup.run(setup.intend({ kind: 'put', path: '/a.txt', base, ...(await setup.content('new')) }))
    expect(setup.calls).toEqual([...lookedAtMissing('/a.txt'), 'PUT /a.txt'])
    expect(await setup.held()).toEqual({ '/a.txt': 'new' })
  })
})

describe('another client’s version in place of the one this mount has seen', () => {
  async function outdated(): Promise<string> {
    await given({ '/a.txt': 'first' })
    const base = await setup.seen('/a.txt')
    await given({ '/a.txt': 'by another' })
    return base
  }

  it('is kept beside ours', async () => {
    const base = await outdated()
    await setup.run(setup.intend({ kind: 'put', path: '/a.txt', base, ...(await setup.content('ours')) }))
    const held = await setup.held()
    expect(held['/a.txt']).toBe('ours')
    expect(keptCopies(held)).toEqual(['by another'])
  })

  it('is kept through this machine where the service refuses copies by uri', async () => {
    const base = await outdated()
    inject({ kind: 'refuse-uri' })
    await setup.run(setup.intend({ kind: 'put', path: '/a.txt', base, ...(await setup.content('ours')) }))
    expect(keptCopies(await setup.held())).toEqual(['by another'])
  })

  it('is kept once, though the delete after that fails and all of it is done again', async () => {
    const base = await outdated()
    const put = setup.intend({ kind: 'put', path: '/a.txt', base, ...(await setup.content('ours')) })
    inject({ kind: 'status', status: 403 }, { method: 'DELETE', times: 1 })
    await expect(setup.run(put)).rejects.toMatchObject({ status: 403 })
    const [journaled] = setup.journal.intentions.all()
    await setup.run(journaled ?? put)
    expect(setup.calls).toEqual(['GET /a.txt', 'DELETE /a.txt', 'PUT /a.txt'])
    expect(keptCopies(await setup.held())).toEqual(['by another'])
  })

  it('is kept once, though a power cut took the knowledge of it', async () => {
    const base = await outdated()
    const content = await setup.content('ours')
    inject({ kind: 'status', status: 403 }, { method: 'DELETE', times: 1 })
    const put = setup.intend({ kind: 'put', path: '/a.txt', base, ...content })
    await expect(setup.run(put)).rejects.toMatchObject({ status: 403 })
    await setup.run(setup.intend({ kind: 'put', path: '/a.txt', base, ...content }))
    const held = await setup.held()
    expect(held['/a.txt']).toBe('ours')
    expect(keptCopies(held)).toEqual(['by another'])
  })

  it('is kept where it came after a DELETE of ours that failed: the next one looks again', async () => {
    await given({ '/a.txt': 'seen' })
    const base = await setup.seen('/a.txt')
    const large = Buffer.alloc(1024 * 1024 + 1, 'ours')
    const put = setup.intend({ kind: 'put', path: '/a.txt', base, ...(await setup.content(large)) })
    inject({ kind: 'status', status: 503 }, { method: 'DELETE', times: 1 })
    await expect(setup.run(put)).rejects.toMatchObject({ status: 503 })
    await testService.other.put('/a.txt', 'by another')
    await setup.run(put)
    expect(keptCopies(await setup.held())).toEqual(['by another'])
  })

  it('stays in its place where it cannot be kept', async () => {
    const base = await outdated()
    inject({ kind: 'status', status: 403 }, { method: 'PUT' })
    const put = setup.intend({ kind: 'put', path: '/a.txt', base, ...(await setup.content('ours')) })
    await expect(setup.run(put)).rejects.toMatchObject({ status: 403 })
    expect(await setup.held()).toEqual({ '/a.txt': 'by another' })
  })

  it('is overwritten where the person wants no conflict copies', async () => {
    const base = await outdated()
    const put = setup.intend({ kind: 'put', path: '/a.txt', base, ...(await setup.content('ours')) })
    await setup.run(put, { keepConflicts: false })
    expect(await setup.held()).toEqual({ '/a.txt': 'ours' })
  })
})

describe('our very bytes, stored by whomever,', () => {
  it('are not kept beside themselves', async () => {
    await given({ '/a.txt': 'seen' })
    const base = await setup.seen('/a.txt')
    await given({ '/a.txt': 'ours' })
    await setup.run(setup.intend({ kind: 'put', path: '/a.txt', base, ...(await setup.content('ours')) }))
    expect(await setup.held()).toEqual({ '/a.txt': 'ours' })
  })
})

describe('a lost answer', () => {
  it.each(['lost-answer', 'error-after-commit'] as const)(
    '(%s) is recognised by its content: nothing is sent twice, and nothing is in conflict',
    async (kind) => {
      inject({ kind }, { method: 'PUT', times: 1 })
      const put = setup.intend({ kind: 'put', path: '/a.txt', ...(await setup.content('ours')) })
      await expect(setup.run(put)).rejects.toThrow('PUT /a.txt')
      const [journaled] = setup.journal.intentions.all()
      expect(journaled?.sentDigests).toEqual([put.digest])
      expect(await setup.run(journaled ?? put)).toMatchObject({ size: 4 })
      expect(setup.calls).toEqual(['GET /a.txt', 'download /a.txt'])
      expect(await setup.held()).toEqual({ '/a.txt': 'ours' })
    },
  )

  it('however often, is one digest to look for: what is kept of a change does not grow with its attempts', async () => {
    inject({ kind: 'status', status: 500 }, { method: 'PUT', times: 3 })
    const put = setup.intend({ kind: 'put', path: '/a.txt', ...(await setup.content('ours')) })
    for (let attempt = 1; attempt <= 3; attempt++)
      await expect(setup.run(put)).rejects.toMatchObject({ status: 500 })
    expect(setup.journal.intentions.all()[0]?.sentDigests).toEqual([put.digest])
  })

  it('after which nothing was stored is an upload', async () => {
    inject({ kind: 'status', status: 500 }, { method: 'PUT', times: 1 })
    const put = setup.intend({ kind: 'put', path: '/a.txt', ...(await setup.content('ours')) })
    await expect(setup.run(put)).rejects.toMatchObject({ status: 500 })
    await setup.run(put)
    expect(setup.calls).toEqual([...lookedAtMissing('/a.txt'), 'PUT /a.txt'])
    expect(await setup.held()).toEqual({ '/a.txt': 'ours' })
  })

  it('makes an older state of the document ours: it is replaced, and no conflict', async () => {
    inject({ kind: 'lost-answer' }, { method: 'PUT', times: 1 })
    const first = setup.intend({ kind: 'put', path: '/a.txt', ...(await setup.content('first')) })
    await expect(setup.run(first)).rejects.toThrow('PUT /a.txt')
    const { sentDigests } = first
    await setup.run(
      setup.intend({ kind: 'put', path: '/a.txt', sentDigests, ...(await setup.content('second')) }),
    )
    expect(setup.calls).toEqual(['GET /a.txt', 'download /a.txt', 'DELETE /a.txt', 'PUT /a.txt'])
    expect(await setup.held()).toEqual({ '/a.txt': 'second' })
  })

  it('does not make ours what another client has put there since, though it is as long', async () => {
    inject({ kind: 'lost-answer' }, { method: 'PUT', times: 1 })
    const put = setup.intend({ kind: 'put', path: '/a.txt', ...(await setup.content('ours')) })
    await expect(setup.run(put)).rejects.toThrow('PUT /a.txt')
    await given({ '/a.txt': 'they' })
    await setup.run(put)
    const held = await setup.held()
    expect(held['/a.txt']).toBe('ours')
    expect(keptCopies(held)).toEqual(['they'])
  })

  it('of a run that did not live to tell: what begins as ours is ours, and is replaced', async () => {
    await given({ '/a.txt': 'ou' })
    const put = setup.intend({
      kind: 'put',
      path: '/a.txt',
      isOutcomeUnknown: true,
      ...(await setup.content('ours')),
    })
    await setup.run(put)
    expect(setup.calls).toEqual(['GET /a.txt', 'download /a.txt', 'DELETE /a.txt', 'PUT /a.txt'])
    expect(await setup.held()).toEqual({ '/a.txt': 'ours' })
  })
})

describe('an upload that is stored and answered with 409, as where a balancer has sent it twice,', () => {
  const repeat = (times?: number): unknown =>
    inject({ kind: 'error-after-commit', status: 409 }, { method: 'PUT', ...(times && { times }) })

  it('is recognised by its content: nothing is sent twice, and nothing is in conflict', async () => {
    repeat()
    const put = setup.intend({ kind: 'put', path: '/a.txt', ...(await setup.content('ours')) })
    expect(await setup.run(put)).toMatchObject({ size: 4 })
    expect(setup.calls).toEqual(['PUT /a.txt', 'GET /a.txt', 'download /a.txt'])
    expect(await setup.held()).toEqual({ '/a.txt': 'ours' })
    expect(put).toMatchObject({ sentDigests: [], isOutcomeUnknown: false })
  })

  it.each([
    ['goes out with the DELETE of what it replaces', 'ours'],
    ['is too large for that', 'o'.repeat(1024 * 1024 + 1)],
  ])('is recognised where it %s', async (_title, ours) => {
    await given({ '/a.txt': 'old' })
    const base = await setup.seen('/a.txt')
    repeat()
    await setup.run(setup.intend({ kind: 'put', path: '/a.txt', base, ...(await setup.content(ours)) }))
    const looked = ['GET /a.txt', 'download /a.txt']
    expect(setup.calls.slice(-5)).toEqual(['GET /a.txt', 'DELETE /a.txt', 'PUT /a.txt', ...looked])
    expect(await setup.held()).toEqual({ '/a.txt': ours })
  })

  it('is recognised where it is a copy within the service', async () => {
    await given({ '/a.txt': 'a' })
    repeat()
    await setup.run(setup.intend(await fromA({ keepSource: true })))
    expect(setup.calls.filter((call) => call.startsWith('PUT'))).toEqual(['PUT /b.txt'])
    expect(await setup.held()).toEqual({ '/a.txt': 'a', '/b.txt': 'a' })
  })

  it('is recognised where it is a move, whose source goes then', async () => {
    await given({ '/a.txt': 'a' })
    repeat()
    await setup.run(setup.intend(await fromA()))
    expect(setup.calls.filter((call) => !/^GET|^download/.test(call))).toEqual([
      'PUT /b.txt',
      'DELETE /a.txt',
    ])
    expect(await setup.held()).toEqual({ '/b.txt': 'a' })
  })

  it('is recognised where it is a move through this machine', async () => {
    await given({ '/a.txt': 'a' })
    inject({ kind: 'refuse-uri' })
    const upload: Files['upload'] = async (path, content, options) => {
      const record = await setup.files.upload(path, content, options)
      throw new ApiError({ method: 'PUT', path }, 409, `${record.name} exists`)
    }
    await setup.run(setup.intend(await fromA()), { files: { ...setup.files, upload } })
    expect(await setup.held()).toEqual({ '/b.txt': 'a' })
  })

  it('is none where another client’s version of the same length stands there: that is kept', async () => {
    await given({ '/a.txt': 'they' })
    await setup.run(setup.intend({ kind: 'put', path: '/a.txt', ...(await setup.content('ours')) }))
    const held = await setup.held()
    expect(held['/a.txt']).toBe('ours')
    expect(keptCopies(held)).toEqual(['they'])
  })

  it('is none where another client’s version begins as ours does: that is kept, and not fetched to see', async () => {
    await given({ '/a.txt': 'ou' })
    await setup.run(setup.intend({ kind: 'put', path: '/a.txt', ...(await setup.content('ours')) }))
    expect(setup.calls).not.toContain('download /a.txt')
    expect(keptCopies(await setup.held())).toEqual(['ou'])
  })

  it('is none where another client’s version stands at the target of a move: that is kept', async () => {
    await given({ '/a.txt': 'a', '/b.txt': 'b' })
    await setup.run(setup.intend(await fromA()))
    const held = await setup.held()
    expect(held['/b.txt']).toBe('a')
    expect(keptCopies(held)).toEqual(['b'])
  })

  describe('and could not be looked at', () => {
    async function unseen(): Promise<Intention> {
      repeat(1)
      inject({ kind: 'status', status: 403 }, { method: 'GET', times: 1 })
      const put = setup.intend({ kind: 'put', path: '/a.txt', ...(await setup.content('ours')) })
      await expect(setup.run(put)).rejects.toMatchObject({ method: 'GET', status: 403 })
      const [journaled = put] = setup.journal.intentions.all()
      expect(journaled.sentDigests).toEqual([put.digest])
      return journaled
    }

    it('is recognised the next time: it is not sent twice', async () => {
      await setup.run(await unseen())
      expect(setup.calls).toEqual(['GET /a.txt', 'download /a.txt'])
      expect(await setup.held()).toEqual({ '/a.txt': 'ours' })
    })

    it('is ours to replace by what was saved since', async () => {
      const { sentDigests } = await unseen()
      const newer = { kind: 'put', path: '/a.txt', sentDigests, ...(await setup.content('newer')) } as const
      await setup.run(setup.intend(newer))
      expect(await setup.held()).toEqual({ '/a.txt': 'newer' })
    })

    it('goes with its document', async () => {
      const { sentDigests } = await unseen()
      await setup.run(setup.intend({ kind: 'delete', path: '/a.txt', sentDigests }))
      expect(await setup.held()).toEqual({})
    })

    it('takes no other client’s version away with its document', async () => {
      const { sentDigests } = await unseen()
      await given({ '/a.txt': 'they' })
      await setup.run(setup.intend({ kind: 'delete', path: '/a.txt', sentDigests }))
      expect(await setup.held()).toEqual({ '/a.txt': 'they' })
      expect(setup.told.at(-1)).toMatch(/^warn .*that one stays/)
    })

    it('is doubted also where it is a copy: what is renamed on does not leave it behind', async () => {
      await given({ '/a.txt': 'a' })
      const copy = setup.intend(await fromA())
      repeat(1)
      inject({ kind: 'status', status: 403 }, { method: 'GET', path: '/b.txt', times: 1 })
      await expect(setup.run(copy)).rejects.toMatchObject({ method: 'GET', status: 403 })
      expect(copy.isOutcomeUnknown).toBe(true)
    })
  })

  it('leaves no doubt where a folder stands there', async () => {
    await given({ '/a.txt/inside.txt': 'theirs' })
    const put = setup.intend({ kind: 'put', path: '/a.txt', ...(await setup.content('ours')) })
    await expect(setup.run(put)).rejects.toMatchObject({ code: 'EISDIR' })
    expect(put).toMatchObject({ sentDigests: [], isOutcomeUnknown: false })
  })
})

describe('content that may not be sent', () => {
  async function over(
    path: string,
    content: string | Uint8Array,
  ): Promise<Parameters<typeof setup.intend>[0]> {
    await given({ [path]: 'old' })
    return { kind: 'put', path, base: await setup.seen(path), ...(await setup.content(content)) }
  }

  it('because it is not what was saved leaves the older version in its place', async () => {
    const draft = await over('/a.txt', 'new')
    setup.damage(draft)
    await expect(setup.run(setup.intend(draft))).rejects.toMatchObject({ code: 'EBADMSG' })
    expect(setup.calls).toEqual(['GET /a.txt'])
    expect(await setup.held()).toEqual({ '/a.txt': 'old' })
  })

  it('because it is not what was saved is not stored at a new name either', async () => {
    const content = await setup.content('new')
    setup.damage(content)
    const put = setup.intend({ kind: 'put', path: '/a.txt', ...content })
    await expect(setup.run(put)).rejects.toMatchObject({ code: 'EBADMSG' })
    expect(await setup.held()).toEqual({})
    expect(put.sentDigests).toEqual([])
  })

  it('because it is gone leaves the older version in its place', async () => {
    const draft = await over('/a.txt', 'new')
    await setup.spool.remove(draft.spool ?? '')
    await expect(setup.run(setup.intend(draft))).rejects.toMatchObject({ code: 'EBADMSG' })
    expect(setup.calls).toEqual(['GET /a.txt'])
    expect(await setup.held()).toEqual({ '/a.txt': 'old' })
  })

  it('because the service takes no such type is refused without a call', async () => {
    const put = setup.intend({
      kind: 'put',
      path: '/notes',
      ...(await setup.content(Buffer.from([0, 1, 2]))),
    })
    await expect(setup.run(put)).rejects.toMatchObject({ code: 'EOPNOTSUPP' })
    expect(setup.calls).toEqual([])
  })

  it('because the service takes no such type leaves the older version in its place', async () => {
    const draft = await over('/notes', Buffer.from([0, 1, 2]))
    await expect(setup.run(setup.intend(draft))).rejects.toMatchObject({ code: 'EOPNOTSUPP' })
    expect(setup.calls).toEqual(['GET /notes'])
    expect(await setup.held()).toEqual({ '/notes': 'old' })
  })
})

describe('a refusal of the caller (403)', () => {
  it('of an upload is told as it is, and leaves no doubt', async () => {
    inject({ kind: 'status', status: 403 }, { method: 'PUT', times: 1 })
    const put = setup.intend({ kind: 'put', path: '/a.txt', ...(await setup.content('ours')) })
    await expect(setup.run(put)).rejects.toMatchObject({ status: 403 })
    expect(setup.calls).toEqual(['PUT /a.txt'])
    expect(put).toMatchObject({ sentDigests: [], isOutcomeUnknown: false })
  })

  it('of a copy by uri, and of its bytes, is told as it is', async () => {
    await given({ '/a.txt': 'a' })
    inject({ kind: 'status', status: 403 }, { method: 'PUT' })
    const copy = setup.intend(await fromA({ keepSource: true }))
    await expect(setup.run(copy)).rejects.toMatchObject({ status: 403, method: 'PUT' })
    expect(copy).toMatchObject({ sentDigests: [], isOutcomeUnknown: false })
    expect(await setup.held()).toEqual({ '/a.txt': 'a' })
    expect(await setup.spool.ids()).toEqual([])
  })

  it('of a look is not taken for an empty place', async () => {
    await given({ '/a.txt': 'old' })
    const base = await setup.seen('/a.txt')
    inject({ kind: 'status', status: 403 }, { method: 'GET', times: 1 })
    const put = setup.intend({ kind: 'put', path: '/a.txt', base, ...(await setup.content('new')) })
    await expect(setup.run(put)).rejects.toMatchObject({ status: 403 })
    expect(setup.calls).toEqual(['GET /a.txt'])
    expect(await setup.held()).toEqual({ '/a.txt': 'old' })
  })

  it('of a delete leaves the older version in its place', async () => {
    await given({ '/a.txt': 'old' })
    const base = await setup.seen('/a.txt')
    inject({ kind: 'status', status: 403 }, { method: 'DELETE', times: 1 })
    const put = setup.intend({ kind: 'put', path: '/a.txt', base, ...(await setup.content('new')) })
    await expect(setup.run(put)).rejects.toMatchObject({ status: 403 })
    expect(setup.calls).toEqual(['GET /a.txt', 'DELETE /a.txt', 'PUT /a.txt'])
    expect(await setup.held()).toEqual({ '/a.txt': 'old' })
  })
})

/** A move, or copy, of `/a.txt` to `/b.txt` as it is in the service now. */
async function fromA(
  more: Partial<Parameters<CommitterSetup['intend']>[0]> = {},
): Promise<Parameters<CommitterSetup['intend']>[0]> {
  const sourceFingerprint = await setup.seen('/a.txt')
  return { kind: 'put', path: '/b.txt', source: '/a.txt', sourceFingerprint, size: 1, ...more }
}

const copied = ['GET /a.txt', 'PUT /b.txt', 'GET /b.txt']

describe('a move', () => {
  it('is a copy within the service, journaled as proven before the source is deleted', async () => {
    await given({ '/a.txt': 'a' })
    const move = setup.intend(await fromA())
    const record = await setup.run(move)
    expect(setup.calls).toEqual([...copied, 'DELETE /a.txt'])
    expect(setup.told).toEqual(['secure', 'secure', 'preserve /a.txt'])
    expect(setup.journal.intentions.all()).toMatchObject([
      { isCopied: true, base: await setup.seen('/b.txt') },
    ])
    expect(record).toMatchObject({ name: 'b.txt', size: 1 })
    expect(await setup.held()).toEqual({ '/b.txt': 'a' })
  })

  it('over a version that this mount has seen makes sure of its source before that goes', async () => {
    await given({ '/a.txt': 'a', '/b.txt': 'old' })
    await setup.run(setup.intend(await fromA({ base: await setup.seen('/b.txt') })))
    expect(setup.calls).toEqual(['GET /b.txt', 'GET /a.txt', 'DELETE /b.txt', ...copied, 'DELETE /a.txt'])
    expect(await setup.held()).toEqual({ '/b.txt': 'a' })
  })

  it('over another client’s version keeps that', async () => {
    await given({ '/a.txt': 'a', '/b.txt': 'theirs' })
    await setup.run(setup.intend(await fromA()))
    const held = await setup.held()
    expect(held['/b.txt']).toBe('a')
    expect(keptCopies(held)).toEqual(['theirs'])
    expect(held).not.toHaveProperty('/a.txt')
  })

  it('whose source is gone leaves what stands at its target', async () => {
    await given({ '/a.txt': 'a', '/b.txt': 'old' })
    const move = setup.intend(await fromA({ base: await setup.seen('/b.txt') }))
    await testService.other.delete('/a.txt')
    await expect(setup.run(move)).rejects.toMatchObject({ code: 'ENOENT' })
    expect(setup.calls).toEqual(['GET /b.txt', ...lookedAtMissing('/a.txt')])
    expect(await setup.held()).toEqual({ '/b.txt': 'old' })
  })

  it('of a document whose type nobody tells, to a name that tells none either, leaves what stands there', async () => {
    await given({ '/a.txt': 'a', '/b.docx': 'old' })
    const move = setup.intend(await fromA({ path: '/b.docx', base: await setup.seen('/b.docx') }))
    inject({ kind: 'omit-fields', fields: ['mimetype'] }, { method: 'GET' })
    await expect(setup.run(move)).rejects.toMatchObject({ code: 'EOPNOTSUPP' })
    expect(setup.calls).toEqual(['GET /b.docx', 'GET /a.txt'])
    expect(await setup.held()).toEqual({ '/a.txt': 'a', '/b.docx': 'old' })
  })

  it('whose source is gone makes nothing', async () => {
    await given({ '/a.txt': 'a' })
    const move = setup.intend(await fromA())
    await testService.other.delete('/a.txt')
    await expect(setup.run(move)).rejects.toMatchObject({ code: 'ENOENT' })
    expect(setup.calls).toEqual(lookedAtMissing('/a.txt'))
  })

  it('leaves its source where it is until the journal says that the copy stands, however often that fails', async () => {
    await given({ '/a.txt': 'content' })
    const move = setup.intend(await fromA())
    const save = (): never => {
      throw Object.assign(new Error('database or disk is full'), { code: 'SQLITE_FULL' })
    }
    for (let time = 0; time < 2; time++) {
      await expect(setup.run(move, { save })).rejects.toMatchObject({ code: 'SQLITE_FULL' })
      expect(await setup.held()).toEqual({ '/a.txt': 'content', '/b.txt': 'content' })
    }
    const saved: boolean[] = []
    await setup.run(move, { save: ({ isCopied }) => void saved.push(isCopied) })
    expect(saved).toEqual([true])
    expect(await setup.held()).toEqual({ '/b.txt': 'content' })
  })

  it('goes through this machine where the service refuses copies by uri, and leaves nothing in the spool', async () => {
    await given({ '/a.txt': 'a' })
    inject({ kind: 'refuse-uri' })
    await setup.run(setup.intend(await fromA()))
    expect(setup.calls.filter((call) => call !== 'download /a.txt')).toEqual([
      'GET /a.txt',
      'PUT /b.txt',
      'PUT /b.txt',
      'GET /a.txt',
      'DELETE /a.txt',
    ])
    expect(await setup.held()).toEqual({ '/b.txt': 'a' })
    expect(await setup.spool.ids()).toEqual([])
  })

  it('through this machine takes its time: what another client saved at the source meanwhile stays', async () => {
    await given({ '/a.txt': 'a' })
    inject({ kind: 'refuse-uri' })
    const move = setup.intend(await fromA())
    const mimetypeOf: CommitterOptions['ask']['mimetypeOf'] = async () => {
      await given({ '/a.txt': 'by another' })
      return 'text/plain'
    }
    await setup.run(move, { ask: { ...setup.ask, mimetypeOf } })
    expect(await setup.held()).toEqual({ '/a.txt': 'by another', '/b.txt': 'a' })
    expect(setup.told.at(-1)).toMatch(/^warn .*both are kept/)
  })

  it('keeps its mimetype, whatever the new name says', async () => {
    await testService.other.put('/a.txt', '{}', 'application/json')
    expect(await setup.run(setup.intend(await fromA({ size: 2 })))).toMatchObject({
      mimetype: 'application/json',
    })
  })

  it('whose source may not be deleted goes on there, and copies nothing again', async () => {
    await given({ '/a.txt': 'a' })
    const move = setup.intend(await fromA())
    inject({ kind: 'status', status: 403 }, { method: 'DELETE', times: 1 })
    await expect(setup.run(move)).rejects.toMatchObject({ status: 403 })
    expect(await setup.held()).toEqual({ '/a.txt': 'a', '/b.txt': 'a' })
    const [journaled] = setup.journal.intentions.all()
    await setup.run(journaled ?? move)
    expect(setup.calls).toEqual(['GET /b.txt', 'GET /a.txt', 'DELETE /a.txt'])
    expect(await setup.held()).toEqual({ '/b.txt': 'a' })
  })

  it('that is proven keeps the original where the copy is gone, and makes it once more', async () => {
    await given({ '/a.txt': 'a' })
    const move = setup.intend(await fromA(), { isCopied: true })
    await expect(setup.run(move)).rejects.toMatchObject({ code: 'ESTALE' })
    expect(await setup.held()).toEqual({ '/a.txt': 'a' })
    const [journaled] = setup.journal.intentions.all()
    await setup.run(journaled ?? move)
    expect(await setup.held()).toEqual({ '/b.txt': 'a' })
  })

  it('with content of its own that is proven keeps the original where that is gone, and stores it once more', async () => {
    await given({ '/a.txt': 'a' })
    const draft = { ...(await fromA()), ...(await setup.content('ours')) }
    await expect(setup.run(setup.intend(draft, { isCopied: true }))).rejects.toMatchObject({ code: 'ESTALE' })
    const [journaled] = setup.journal.intentions.all()
    await setup.run(journaled ?? setup.intend(draft))
    expect(await setup.held()).toEqual({ '/b.txt': 'ours' })
  })

  it('cut off before it was proven takes its own copy for no other client’s', async () => {
    await given({ '/a.txt': 'a', '/b.txt': 'a' })
    await setup.run(setup.intend(await fromA(), { isOutcomeUnknown: true }))
    expect(await setup.held()).toEqual({ '/b.txt': 'a' })
  })

  it('forgotten in a power cut after it was seen through is recognised, and nothing is changed', async () => {
    await given({ '/a.txt': 'a', '/b.txt': 'a' })
    const move = setup.intend(await fromA(), { isOutcomeUnknown: true })
    await testService.other.delete('/a.txt')
    await setup.run(move)
    expect(setup.calls.filter((call) => !call.startsWith('GET '))).toEqual([])
    expect(await setup.held()).toEqual({ '/b.txt': 'a' })
  })

  it('whose copy was stored and not seen yet takes it for its own the next time', async () => {
    await given({ '/a.txt': 'a' })
    const move = setup.intend(await fromA())
    inject({ kind: 'status', status: 403 }, { method: 'GET', path: '/b.txt', times: 1 })
    await expect(setup.run(move)).rejects.toMatchObject({ status: 403 })
    const [journaled] = setup.journal.intentions.all()
    expect(journaled?.isOutcomeUnknown).toBe(true)
    await setup.run(journaled ?? move)
    expect(setup.calls).not.toContain('PUT /b.txt')
    expect(await setup.held()).toEqual({ '/b.txt': 'a' })
  })

  describe('whose copy was stored and its answer lost', () => {
    async function halfDone(files: Files = setup.files): Promise<Intention> {
      const move = setup.intend(await fromA())
      const lost: Files['upload'] = async (path, content, options) => {
        await files.upload(path, content, options)
        throw new NetworkError({ method: 'PUT', path }, 'cut', 'the connection broke')
      }
      await expect(setup.run(move, { files: { ...files, upload: lost } })).rejects.toThrow('broke')
      const [journaled = move] = setup.journal.intentions.all()
      return journaled
    }

    it('is recognised, and leaves at the source what another client has saved there since', async () => {
      await given({ '/a.txt': 'a' })
      const move = await halfDone()
      await given({ '/a.txt': 'by another' })
      await setup.run(move)
      expect(await setup.held()).toEqual({ '/a.txt': 'by another', '/b.txt': 'a' })
      expect(setup.told.at(-1)).toMatch(/^warn .*both are kept/)
    })

    it('through this machine is recognised, and leaves what another client has saved there since', async () => {
      await given({ '/a.txt': 'a' })
      inject({ kind: 'refuse-uri' })
      const move = await halfDone()
      expect(move.sentDigests).toHaveLength(1)
      await given({ '/a.txt': 'by another' })
      await setup.run(move)
      expect(await setup.held()).toEqual({ '/a.txt': 'by another', '/b.txt': 'a' })
    })

    it('is made once', async () => {
      await given({ '/a.txt': 'a' })
      const move = await halfDone()
      await setup.run(move)
      expect(setup.calls.filter((call) => !/^GET|^download/.test(call))).toEqual(['DELETE /a.txt'])
      expect(await setup.held()).toEqual({ '/b.txt': 'a' })
    })

    it('is made over what stood there before, and was not stored in its place', async () => {
      await given({ '/a.txt': 'a', '/b.txt': 'b' })
      const base = await setup.seen('/b.txt')
      const move = setup.intend(await fromA({ base }), { isOutcomeUnknown: true })
      await given({ '/a.txt': 'by another' })
      await setup.run(move)
      expect(await setup.held()).toEqual({ '/b.txt': 'by another' })
    })
  })
})

describe('a move of a document that was written here', () => {
  it('sends what was written, and deletes the source that this mount has seen', async () => {
    await given({ '/a.txt': 'a' })
    await setup.run(setup.intend(await fromA(await setup.content('written'))))
    expect(setup.calls).toEqual(['PUT /b.txt', 'GET /a.txt', 'DELETE /a.txt'])
    expect(await setup.held()).toEqual({ '/b.txt': 'written' })
  })

  it('keeps a source that another client has changed meanwhile, and says so', async () => {
    await given({ '/a.txt': 'a' })
    const move = setup.intend(await fromA(await setup.content('written')))
    await given({ '/a.txt': 'by another' })
    await setup.run(move)
    expect(await setup.held()).toEqual({ '/a.txt': 'by another', '/b.txt': 'written' })
    expect(setup.told.at(-1)).toMatch(/^warn .*both are kept/)
  })

  it('deletes a source that holds what was sent there before, and not answered', async () => {
    await given({ '/a.txt': 'a' })
    const base = await setup.seen('/a.txt')
    inject({ kind: 'lost-answer' }, { method: 'PUT', times: 1 })
    const first = setup.intend({ kind: 'put', path: '/a.txt', base, ...(await setup.content('first')) })
    await expect(setup.run(first)).rejects.toThrow('PUT /a.txt')
    const { sentDigests } = first
    const written = await setup.content('written')
    const move = {
      kind: 'put',
      path: '/b.txt',
      source: '/a.txt',
      sourceFingerprint: base,
      sentDigests,
    } as const
    await setup.run(setup.intend({ ...move, ...written }))
    expect(await setup.held()).toEqual({ '/b.txt': 'written' })
  })

  it('deletes a source that holds the very bytes that were moved, whoever stored them there', async () => {
    await given({ '/a.txt': 'a' })
    const move = setup.intend(await fromA(await setup.content('written')))
    await given({ '/a.txt': 'written' })
    await setup.run(move)
    expect(await setup.held()).toEqual({ '/b.txt': 'written' })
  })

  it('is done where the source is gone already', async () => {
    await given({ '/a.txt': 'a' })
    const move = setup.intend(await fromA(await setup.content('written')))
    await testService.other.delete('/a.txt')
    await setup.run(move)
    expect(setup.calls).toEqual(['PUT /b.txt', ...lookedAtMissing('/a.txt')])
    expect(await setup.held()).toEqual({ '/b.txt': 'written' })
  })
})

describe('a copy', () => {
  it('leaves its source where it is', async () => {
    await given({ '/a.txt': 'a' })
    await setup.run(setup.intend(await fromA({ keepSource: true })))
    expect(setup.calls).toEqual(copied)
    expect(await setup.held()).toEqual({ '/a.txt': 'a', '/b.txt': 'a' })
  })

  it('over a version that this mount has seen replaces it', async () => {
    await given({ '/a.txt': 'a', '/b.txt': 'old' })
    await setup.run(setup.intend(await fromA({ keepSource: true, base: await setup.seen('/b.txt') })))
    expect(await setup.held()).toEqual({ '/a.txt': 'a', '/b.txt': 'a' })
  })

  it.each([400, 403, 501])(
    'goes through this machine where the service refuses copies by uri (%i)',
    async (status) => {
      await given({ '/a.txt': 'a' })
      inject({ kind: 'refuse-uri', status })
      await setup.run(setup.intend(await fromA({ keepSource: true })))
      expect(await setup.held()).toEqual({ '/a.txt': 'a', '/b.txt': 'a' })
      expect(await setup.spool.ids()).toEqual([])
    },
  )
})

describe('a copy of which the service stores something shorter', () => {
  it.each([
    ['', []],
    [', and tells of it only when it is asked', ['size' as const]],
  ])('is ours: it is made anew, and no copy of it is kept%s', async (_title, fields) => {
    await given({ '/a.txt': 'all of it' })
    inject({ kind: 'short-copy', bytes: 3 }, { method: 'PUT', times: 1 })
    inject({ kind: 'omit-fields', fields }, { method: 'PUT' })
    const copy = setup.intend({ ...(await fromA({ keepSource: true })), size: 9 })
    await expect(setup.run(copy)).rejects.toMatchObject({ code: 'EIO' })
    expect((await setup.held())['/b.txt']).toBe('???')
    await setup.run(copy)
    expect(await setup.held()).toEqual({ '/a.txt': 'all of it', '/b.txt': 'all of it' })
  })

  it('and another client replaces at once is not ours', async () => {
    await given({ '/a.txt': 'all of it' })
    const files: Files = {
      ...setup.files,
      async upload(path, upload, options) {
        const record = await setup.files.upload(path, upload, options)
        if (path === '/b.txt') await given({ '/b.txt': 'theirs' })
        return record
      },
    }
    const copy = setup.intend({ ...(await fromA({ keepSource: true })), size: 9 })
    await expect(setup.run(copy, { files })).rejects.toMatchObject({ code: 'ESTALE' })
    await setup.run(copy)
    const held = await setup.held()
    expect(held['/b.txt']).toBe('all of it')
    expect(keptCopies(held)).toEqual(['theirs'])
  })
})

describe('a change that the service only accepts (202)', () => {
  const late = (path: string): unknown =>
    inject({ kind: 'late-delete', ms: 500 }, { method: 'DELETE', path, times: 1 })
  const deletes = (): number =>
    testService.service.calls.filter(({ method, status }) => method === 'DELETE' && status !== undefined)
      .length

  it('is a delete until its document is gone: what comes next stays', async () => {
    await given({ '/a.txt': 'old' })
    late('/a.txt')
    await setup.run(setup.intend({ kind: 'delete', path: '/a.txt', base: await setup.seen('/a.txt') }))
    expect(await setup.held()).toEqual({})
    const before = deletes()
    await setup.run(setup.intend({ kind: 'put', path: '/a.txt', ...(await setup.content('new')) }))
    await waitUntil('the delete to be carried out', () => before + deletes() >= 2)
    expect(await setup.held()).toEqual({ '/a.txt': 'new' })
  })

  it.each([
    ['small', 1_000],
    ['large', 1_100_000],
  ])('is a replace (%s) until what it replaces is gone, by one delete', async (_size, size) => {
    await given({ '/a.txt': 'old' })
    const content = 'n'.repeat(size)
    const base = await setup.seen('/a.txt')
    late('/a.txt')
    await setup.run(setup.intend({ kind: 'put', path: '/a.txt', base, ...(await setup.content(content)) }))
    await waitUntil('the delete to be carried out', () => deletes() >= 2)
    expect(deletes()).toBe(2)
    expect(await setup.held()).toEqual({ '/a.txt': content })
  })

  it('is a move until its source is gone', async () => {
    await given({ '/a.txt': 'a' })
    late('/a.txt')
    await setup.run(setup.intend(await fromA()))
    expect(await setup.held()).toEqual({ '/b.txt': 'a' })
  })

  it.each([
    ['and stores later', { kind: 'error-after-commit', status: 202 }],
    ['and never stores', { kind: 'status', status: 202 }],
  ] as const)('is no upload yet, %s: it arrives once', async (_title, fault) => {
    inject(fault, { method: 'PUT', times: 1 })
    const put = setup.intend({ kind: 'put', path: '/a.txt', ...(await setup.content('ours')) })
    await expect(setup.run(put)).rejects.toMatchObject({ status: 202 })
    expect(put.sentDigests).toEqual([put.digest])
    await setup.run(put)
    expect(await setup.held()).toEqual({ '/a.txt': 'ours' })
  })
})

describe('a save that is given up while its DELETE is under way', () => {
  it.each([
    ['with the upload', 1_000],
    ['before the upload', 1_100_000],
  ])('%s: ends when that is answered', async (_name, size) => {
    await given({ '/a.txt': 'a' })
    const content = await setup.content('b'.repeat(size))
    const saved = setup.intend({ kind: 'put', path: '/a.txt', base: await setup.seen('/a.txt'), ...content })
    testService.service.faults.inject({ kind: 'latency', ms: 300 }, { method: 'DELETE' })
    const controller = new AbortController()
    const givingUp = <T>(call: Promise<T>): Promise<T> => {
      controller.abort(new Error('its content is being written again'))
      return call
    }
    const files: Files = {
      ...setup.files,
      delete: (path, options) => givingUp(setup.files.delete(path, options)),
      replace: (path, upload, options) => givingUp(setup.files.replace(path, upload, options)),
    }
    await setup
      .committer({ files })
      .run(saved, controller.signal)
      .catch((error: unknown) => expect(error).toBe(controller.signal.reason))
    expect((await setup.held())['/a.txt']).not.toBe('a')
  })
})

describe('a new document that is given up', () => {
  /** Gives up when its `at`-th piece has been taken, or once the last one has. */
  async function giveUp(
    size: number,
    at: number,
    { answerMs = 300, timers }: { answerMs?: number; timers?: Timers } = {},
  ): Promise<{ put: Intention; ended: Promise<unknown> }> {
    const put = setup.intend({ kind: 'put', path: '/a.txt', ...(await setup.content('a'.repeat(size))) })
    testService.service.faults.inject({ kind: 'latency', ms: answerMs }, { method: 'PUT', times: 1 })
    const controller = new AbortController()
    async function* watched(pieces: AsyncIterable<Uint8Array>): AsyncIterable<Uint8Array> {
      let count = 0
      for await (const piece of pieces) {
        yield piece
        if (++count === at) controller.abort(new Error('its content is being written again'))
      }
      controller.abort(new Error('it is deleted'))
    }
    const files: Files = {
      ...setup.files,
      upload: (path, { content, ...upload }, options) => {
        if (content.kind !== 'bytes') throw new Error('only bytes are sent here')
        const open = (signal: AbortSignal): AsyncIterable<Uint8Array> => watched(content.open(signal))
        return setup.files.upload(path, { ...upload, content: { ...content, open } }, options)
      },
    }
    const ended = setup.committer({ files, ...(timers && { timers }) }).run(put, controller.signal)
    return { put, ended }
  }

  it('when it was sent in full ends when that is answered: it does not come back behind its delete', async () => {
    const { ended } = await giveUp(1_000, Infinity)
    expect(await ended).toMatchObject({ name: 'a.txt', size: 1_000 })
  })

  it('when it was sent in full, and is never answered, ends after a while: what stands there is looked at before it is sent again', async () => {
    const timers = heldTimers()
    const { faults } = testService.service
    const before = faults.hits
    const { put, ended } = await giveUp(1_000, Infinity, { answerMs: 3_600_000, timers })
    const ending = expect(ended).rejects.toThrow('it is deleted')
    await waitUntil('patience to begin', () => timers.waiting > 0)
    await waitUntil('the service to hear of it', () => faults.hits > before)
    timers.fire()
    await ending
    expect(put.sentDigests).toEqual([put.digest])
    await setup.run(put)
    expect(setup.calls).toEqual([...lookedAtMissing('/a.txt'), 'PUT /a.txt'])
  })

  it('in the middle ends at once: the service stores no part of it', async () => {
    const { ended } = await giveUp(5_000_000, 2)
    await expect(ended).rejects.toThrow('its content is being written again')
    expect(await setup.held()).toEqual({})
  })
})

describe('a delete of a document', () => {
  const deletion = async (): Promise<Parameters<CommitterSetup['intend']>[0]> => {
    await given({ '/a.txt': 'a' })
    return { kind: 'delete', path: '/a.txt', base: await setup.seen('/a.txt') }
  }

  it('is a look and one call, once it survives a power cut and who has it open has its bytes', async () => {
    expect(await setup.run(setup.intend(await deletion()))).toBeUndefined()
    expect(setup.calls).toEqual(['GET /a.txt', 'DELETE /a.txt'])
    expect(setup.told).toEqual(['secure', 'preserve /a.txt'])
    expect(await setup.held()).toEqual({})
  })

  it('given up while its DELETE is under way ends when that is answered: it takes no later version', async () => {
    const given = setup.intend(await deletion())
    testService.service.faults.inject({ kind: 'latency', ms: 300 }, { method: 'DELETE' })
    const controller = new AbortController()
    const files: Files = {
      ...setup.files,
      delete: (path, options) => {
        const deleting = setup.files.delete(path, options)
        controller.abort(new Error('its content is being written again'))
        return deleting
      },
    }
    await setup.committer({ files }).run(given, controller.signal)
    expect(await setup.held()).toEqual({})
  })

  it('is done where somebody else has done it', async () => {
    const gone = setup.intend(await deletion())
    await testService.other.delete('/a.txt')
    await setup.run(gone)
    expect(setup.calls).toEqual(lookedAtMissing('/a.txt'))
  })

  it('that is refused (403) is told as it is', async () => {
    inject({ kind: 'status', status: 403 }, { method: 'DELETE', times: 1 })
    await expect(setup.run(setup.intend(await deletion()))).rejects.toMatchObject({ status: 403 })
    expect(await setup.held()).toEqual({ '/a.txt': 'a' })
  })

  it('that the service says is missing and goes on showing is a matter of trying again', async () => {
    inject({ kind: 'status', status: 404 }, { method: 'DELETE', times: 1 })
    await expect(setup.run(setup.intend(await deletion()))).rejects.toMatchObject({ code: 'EIO' })
    expect(await setup.held()).toEqual({ '/a.txt': 'a' })
  })

  it('looks first, and deletes the version it was decided by', async () => {
    await setup.run(setup.intend(await deletion()))
    expect(setup.calls).toEqual(['GET /a.txt', 'DELETE /a.txt'])
    expect(await setup.held()).toEqual({})
  })

  it.each<[string, Parameters<CommitterSetup['intend']>[1]]>([
    ['was just decided', {}],
    ['is tried again', { attempts: 2 }],
    ['was cut off', { isOutcomeUnknown: true }],
  ])('that %s leaves a version that nobody here has seen, and says so', async (_title, known) => {
    const late = setup.intend(await deletion(), known)
    await given({ '/a.txt': 'by another' })
    await setup.run(late)
    expect(setup.calls.filter((call) => call.startsWith('DELETE'))).toEqual([])
    expect(setup.told.at(-1)).toMatch(/^warn .*that one stays/)
    expect(await setup.held()).toEqual({ '/a.txt': 'by another' })
  })

  it.each(['?@?', '1@?'])('that was decided by a record that told less (%s) deletes', async (base) => {
    await setup.run(setup.intend({ ...(await deletion()), base }))
    expect(await setup.held()).toEqual({})
  })

  it('leaves a folder that has taken its place', async () => {
    const late = setup.intend(await deletion())
    await testService.other.delete('/a.txt')
    await given({ '/a.txt/inside.txt': 'theirs' })
    await setup.run(late)
    expect(await setup.held()).toEqual({ '/a.txt': undefined, '/a.txt/inside.txt': 'theirs' })
  })

  it.each<[string, Parameters<CommitterSetup['intend']>[1]]>([
    ['not known to stand', {}],
    ['in doubt, as all are after a restart,', { isOutcomeUnknown: true }],
  ])('that is %s leaves a folder that stands there', async (_title, known) => {
    await given({ '/a.txt/inside.txt': 'saved since' })
    await setup.run(setup.intend({ kind: 'delete', path: '/a.txt' }, known))
    expect(await setup.held()).toEqual({ '/a.txt': undefined, '/a.txt/inside.txt': 'saved since' })
  })

  it.each([
    ['leaves what another client has stored there by then', 'theirs', { '/a.txt': 'theirs' }],
    ['takes that save', 'ours', {}],
  ])('in the place of a save that may have arrived %s', async (_title, standing, left) => {
    const carried = await setup.content('ours')
    const saved = setup.intend({ kind: 'put', path: '/a.txt', ...carried }, { isOutcomeUnknown: true })
    const draft = merge(saved, { kind: 'delete', path: '/a.txt' }, false)
    await given({ '/a.txt': standing })
    if (draft !== undefined) await setup.run(setup.intend(draft))
    expect(await setup.held()).toEqual(left)
  })

  it('that comes late takes what an unanswered upload of ours has stored', async () => {
    const draft = await deletion()
    const { digest } = await setup.content('ours')
    await given({ '/a.txt': 'ours' })
    const sentDigests = digest === undefined ? [] : [digest]
    await setup.run(setup.intend({ ...draft, sentDigests }, { attempts: 2 }))
    expect(await setup.held()).toEqual({})
  })
})

describe('a delete of a folder', () => {
  const prune = { kind: 'prune', path: '/d' } as const

  it('takes the empty folders in it along', async () => {
    await given({ '/d/s/a.txt': 'a', '/e.txt': 'e' })
    await testService.other.delete('/d/s/a.txt')
    await setup.run(setup.intend(prune))
    expect(setup.calls).toEqual(['GET /d', 'GET /d/s', 'DELETE /d'])
    expect(await setup.held()).toEqual({ '/e.txt': 'e' })
  })

  it('waits a moment for a document that a lagging service may still show there', async () => {
    await given({ '/d/s/a.txt': 'a' })
    await expect(setup.run(setup.intend(prune))).rejects.toMatchObject({ code: 'EIO' })
    expect(await setup.held()).toEqual({ '/d': undefined, '/d/s': undefined, '/d/s/a.txt': 'a' })
  })

  it('leaves it where another client has put a document into it, and says so', async () => {
    await given({ '/d/s/a.txt': 'a' })
    await setup.run(setup.intend(prune, { triedForMs: 60_000 }))
    expect(setup.calls).toEqual(['GET /d', 'GET /d/s', 'GET /d/s/a.txt'])
    expect(setup.told.at(-1)).toMatch(/^warn .*they stay where they are/)
    expect(await setup.held()).toEqual({ '/d': undefined, '/d/s': undefined, '/d/s/a.txt': 'a' })
  })

  it('leaves a document that has taken its place', async () => {
    await given({ '/d': 'a document' })
    await setup.run(setup.intend(prune, { triedForMs: 60_000 }))
    expect(await setup.held()).toEqual({ '/d': 'a document' })
  })

  it('is done where it went with its last document: nothing is deleted that may have come since', async () => {
    await expect(setup.run(setup.intend(prune))).resolves.toBeUndefined()
    expect(setup.calls).toEqual(lookedAtMissing('/d'))
  })
})

describe('what is cached of a document', () => {
  const cached = (): Promise<number> => setup.reader.disk.bytesInPlace({ path: '/b.txt', ...version }, 6)
  const version = { fingerprint: '6@this second', size: 6 }

  beforeEach(async () => {
    await given({ '/a.txt': 'second', '/b.txt': 'first!' })
    const file = setup.spool.createTemporary()
    await file.write(0, Buffer.from('first!'))
    await setup.reader.adopt({ path: '/b.txt', ...version }, file.path)
    expect(await cached()).toBe(6)
  })

  const puts = {
    'a save': async () => setup.content('second'),
    'a copy': async () => ({ source: '/a.txt', size: 6, keepSource: true }),
    'a move': async () => ({ source: '/a.txt', size: 6, sourceFingerprint: await setup.seen('/a.txt') }),
  }

  it.each(Object.entries(puts))(
    'is gone before %s takes its place: it may look the same',
    async (_, with_) => {
      inject({ kind: 'lost-answer' }, { method: 'PUT' })
      const put = {
        kind: 'put',
        path: '/b.txt',
        base: await setup.seen('/b.txt'),
        ...(await with_()),
      } as const
      await expect(setup.run(setup.intend(put))).rejects.toThrow()
      expect(await setup.held()).toMatchObject({ '/b.txt': 'second' })
      expect(await cached()).toBe(0)
    },
  )

  it('is gone when it came through this machine', async () => {
    inject({ kind: 'refuse-uri' })
    const base = await setup.seen('/b.txt')
    await setup.run(setup.intend({ kind: 'put', path: '/b.txt', base, source: '/a.txt', keepSource: true }))
    expect(await setup.held()).toMatchObject({ '/b.txt': 'second' })
    expect(await cached()).toBe(0)
  })

  it('is gone before the document is deleted', async () => {
    inject({ kind: 'lost-answer' }, { method: 'DELETE' })
    const base = await setup.seen('/b.txt')
    const wanted = setup.intend({ kind: 'delete', path: '/b.txt', base })
    await setup.run(wanted).catch(() => {})
    expect(await setup.held()).not.toHaveProperty('/b.txt')
    expect(await cached()).toBe(0)
  })
})
