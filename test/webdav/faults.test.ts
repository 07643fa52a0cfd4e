// Answers to a client, and documents of the service in the end, while the service misbehaves or is away.

import { afterAll, beforeAll, describe, expect, it } from 'vitest'

import type { Fault, FaultTarget } from '../support/faults/fault.ts'
import { patternedBytes } from '../support/bytes.ts'
import { openWebdav, type OpenedWebdav } from './open-webdav.ts'

let opened: OpenedWebdav
const bytes = patternedBytes(300_000, 'webdav faults')

beforeAll(async () => {
  opened = await openWebdav({
    closeWaitMs: 2_000,
    given: {
      '/passing/old.pdf': 'old',
      '/moved/from.pdf': bytes,
      '/unseen/a.txt': 'a',
      '/cut/large.pdf': bytes,
      '/copied/from.pdf': bytes,
      '/copied/there.pdf': 'old',
      ...Object.fromEntries(
        ['copy', 'move', 'delete'].flatMap((folder) => [
          [`/${folder}/from/a.txt`, 'a'],
          [`/${folder}/from/unseen/b.txt`, 'b'],
          [`/${folder}/to/stays.txt`, 'stays'],
        ]),
      ),
    },
  })
})
afterAll(() => opened.close())

const ask: OpenedWebdav['ask'] = (...args) => opened.ask(...args)
const sent = (): Promise<void> => opened.fileSystem.wait('/', { timeoutMs: 30_000 })

async function withFault<T>(fault: Fault, target: FaultTarget, use: () => Promise<T>): Promise<T> {
  const stop = opened.testService.service.faults.inject(fault, target)
  try {
    return await use()
  } finally {
    stop()
  }
}

describe('what passes', () => {
  it.each<[string, Fault, FaultTarget]>([
    ['PUT answered with 500', { kind: 'status', status: 500 }, { method: 'PUT', times: 2 }],
    ['PUT answered with 429', { kind: 'status', status: 429, retryAfter: 1 }, { method: 'PUT', times: 1 }],
    ['PUT cut in the middle', { kind: 'cut-request', afterBytes: 100_000 }, { method: 'PUT', times: 1 }],
    ['PUT stored but its answer lost', { kind: 'lost-answer' }, { method: 'PUT', times: 1 }],
    ['DELETE done but its answer lost', { kind: 'lost-answer' }, { method: 'DELETE', times: 1 }],
    ['GET answered with 500', { kind: 'status', status: 500 }, { method: 'GET', times: 1 }],
  ])('a save over arrives once: %s', async (_what, fault, target) => {
    const { status } = await withFault(fault, { ...target, path: '/passing/old.pdf' }, async () => {
      const answer = await ask('PUT', '/passing/old.pdf', { body: bytes })
      await sent()
      return answer
    })
    expect(status).toBe(204)
    expect((await opened.testService.other.bytes('/passing/old.pdf')).equals(bytes)).toBe(true)
    expect([...((await opened.testService.other.documents('/passing'))?.keys() ?? [])]).toEqual(['old.pdf'])
    await ask('PUT', '/passing/old.pdf', { body: 'old' })
  })
})

describe('what is refused', () => {
  it.each([
    [400, 400],
    [401, 403],
    [403, 403],
    [413, 413],
    [415, 415],
  ])(
    '%i of the service is %i to the client; the document is kept, named, and sent on retry',
    async (said, told) => {
      const path = `/refused-${said}.txt`
      const answer = await withFault({ kind: 'status', status: said }, { method: 'PUT', path }, () =>
        ask('PUT', path, { body: 'kept' }),
      )
      expect(answer.status).toBe(told)
      expect(answer.text).toMatch(/^[a-z].*\n$/)
      expect((await ask('GET', path)).text).toBe('kept')
      expect(opened.fileSystem.status().unsent.map((change) => change.path)).toEqual([path])
      opened.fileSystem.retry('/')
      await sent()
      expect((await opened.testService.other.bytes(path)).toString()).toBe('kept')
    },
  )
})

describe('a download', () => {
  it('that cannot be finished is cut, never a shorter document', async () => {
    const failure = { kind: 'status', status: 500 } as const
    const answer = await withFault(failure, { endpoint: 'download', path: '/cut/large.pdf' }, () =>
      ask('GET', '/cut/large.pdf').catch((error: Error) => error),
    )
    expect(answer).toBeInstanceOf(Error)
    expect((await ask('GET', '/cut/large.pdf')).body.equals(bytes)).toBe(true)
  })
})

describe('while the service is away', () => {
  it('everything seen is there, everything saved is taken, and what nobody can know is 503', async () => {
    await ask('PROPFIND', '/moved', { headers: { depth: '1' } })
    await ask('PROPFIND', '/', { headers: { depth: '1' } })
    await opened.testService.stop()
    try {
      expect((await ask('PUT', '/away.txt', { body: 'away' })).status).toBe(201)
      expect((await ask('GET', '/away.txt')).text).toBe('away')
      const headers = { destination: '/moved/to.pdf' }
      expect((await ask('MOVE', '/moved/from.pdf', { headers })).status).toBe(201)
      expect((await ask('DELETE', '/refused-400.txt')).status).toBe(204)
      expect((await ask('PROPFIND', '/moved', { headers: { depth: '1' } })).text).toContain('/moved/to.pdf')
      const unknown = await ask('PROPFIND', '/unseen', { headers: { depth: '1' } })
      expect(unknown).toMatchObject({
        status: 503,
        text: expect.stringContaining('the service cannot be reached'),
      })
    } finally {
      await opened.testService.start()
    }
    await sent()
    expect((await opened.testService.other.bytes('/away.txt')).toString()).toBe('away')
    expect((await opened.testService.other.bytes('/moved/to.pdf')).equals(bytes)).toBe(true)
    expect(await opened.testService.other.get('/refused-400.txt')).toBeUndefined()
  })
})

describe('a copy that cannot be made', () => {
  it('leaves what has its name, and makes nothing where nothing is', async () => {
    await ask('PROPFIND', '/copied', { headers: { depth: '1' } })
    expect((await ask('GET', '/copied/there.pdf')).text).toBe('old')
    await opened.testService.stop()
    try {
      // Its content is where nobody can reach it, under a name that the service does not know yet.
      const moved = { destination: '/copied/moved.pdf' }
      expect((await ask('MOVE', '/copied/from.pdf', { headers: moved })).status).toBe(201)
      for (const destination of ['/copied/there.pdf', '/copied/new.pdf'])
        expect((await ask('COPY', '/copied/moved.pdf', { headers: { destination } })).status).toBe(503)
      expect((await ask('GET', '/copied/there.pdf')).text).toBe('old')
      expect((await ask('HEAD', '/copied/new.pdf')).status).toBe(404)
    } finally {
      await opened.testService.start()
    }
    await sent()
    expect((await opened.testService.other.bytes('/copied/there.pdf')).toString()).toBe('old')
    const documents = await opened.testService.other.documents('/copied')
    expect([...(documents?.keys() ?? [])].toSorted()).toEqual(['moved.pdf', 'there.pdf'])
    expect(documents?.get('moved.pdf')?.equals(bytes)).toBe(true)
  })

  it.each(['COPY', 'MOVE', 'DELETE'])(
    '%s of a folder that nobody looked into removes nothing, at its destination neither',
    async (method) => {
      const folder = `/${method.toLowerCase()}`
      await ask('PROPFIND', folder, { headers: { depth: '1' } })
      await ask('PROPFIND', `${folder}/to`, { headers: { depth: '1' } })
      await ask('PROPFIND', `${folder}/from`, { headers: { depth: '1' } })
      await opened.testService.stop()
      try {
        const headers = { destination: `${folder}/to` }
        expect((await ask(method, `${folder}/from`, { headers })).status).toBe(503)
        const { text } = await ask('PROPFIND', `${folder}/to`, { headers: { depth: '1' } })
        expect(text).toContain('stays.txt')
        expect((await ask('PROPFIND', `${folder}/from`, { headers: { depth: '1' } })).text).toContain('a.txt')
      } finally {
        await opened.testService.start()
      }
      await sent()
      const documents = await opened.testService.other.documents(folder)
      expect([...(documents?.keys() ?? [])].toSorted()).toEqual([
        'from/a.txt',
        'from/unseen/b.txt',
        'to/stays.txt',
      ])
    },
  )
})
