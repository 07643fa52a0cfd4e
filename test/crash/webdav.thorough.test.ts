// The daemon of a WebDAV drive is killed at every call it makes to the service for PUT, MOVE and DELETE, and in the middle of
// a body: what was answered is true afterwards, and of what was not the old or the new is there, whole.

import { connect } from 'node:net'
import { once } from 'node:events'
import { describe, expect, it } from 'vitest'

import type { AskOptions, WebdavDrive } from '../support/webdav-drive.ts'
import { startWebdavDrive } from '../support/webdav-drive.ts'
import { makeTemporaryFolder } from '../support/temporary-folder.ts'
import { waitUntil } from '../support/wait-until.ts'
import { useGatedService } from './gated-service.ts'

type Documents = Readonly<Record<string, string>>

interface Change {
  readonly title: string
  readonly given: Documents
  /** Method, name, and what goes with it; one after the other. */
  readonly requests: readonly (readonly [string, string, AskOptions?])[]
  /** Documents after so many requests: the first is `given`. */
  readonly after: readonly Documents[]
}

const to = (folder: string, name: string): AskOptions => ({ headers: { destination: `${folder}/${name}` } })

/** In a folder of its own, which `f` names. */
const changes = (f: (title: string) => string): readonly Change[] => [
  {
    title: 'PUT',
    given: {},
    requests: [['PUT', 'a.txt', { body: 'new' }]],
    after: [{}, { 'a.txt': 'new' }],
  },
  {
    title: 'PUT over',
    given: { 'a.txt': 'old' },
    requests: [['PUT', 'a.txt', { body: 'new' }]],
    after: [{ 'a.txt': 'old' }, { 'a.txt': 'new' }],
  },
  {
    title: 'PUT of nothing, then PUT',
    given: {},
    requests: [
      ['PUT', 'a.txt'],
      ['PUT', 'a.txt', { body: 'new' }],
    ],
    after: [{}, { 'a.txt': '' }, { 'a.txt': 'new' }],
  },
  {
    title: 'MOVE',
    given: { 'a.txt': 'moved' },
    requests: [['MOVE', 'a.txt', to(f('MOVE'), 'b.txt')]],
    after: [{ 'a.txt': 'moved' }, { 'b.txt': 'moved' }],
  },
  {
    title: 'MOVE over',
    given: { 'a.txt': 'moved', 'b.txt': 'old' },
    requests: [['MOVE', 'a.txt', to(f('MOVE over'), 'b.txt')]],
    after: [{ 'a.txt': 'moved', 'b.txt': 'old' }, { 'b.txt': 'moved' }],
  },
  {
    title: 'DELETE',
    given: { 'a.txt': 'old', 'b.txt': 'stays' },
    requests: [['DELETE', 'a.txt']],
    after: [{ 'a.txt': 'old', 'b.txt': 'stays' }, { 'b.txt': 'stays' }],
  },
]

const mostCalls = 12
const steps = Array.from({ length: mostCalls }, (_, index) => index + 1)

describe('a WebDAV drive whose daemon is killed', () => {
  const gated = useGatedService()

  for (const verdict of ['keep', 'keep-answer'] as const) {
    let isDone = false
    for (const step of steps) {
      it(`${verdict === 'keep' ? 'before' : 'after'} call ${step} to the service: nothing is lost`, async (context) => {
        if (isDone) context.skip('nothing makes as many calls')
        isDone = (await killAt(verdict, step)) === 0
        if (step === mostCalls) expect(isDone).toBe(true)
      })
    }
  }

  /** Answers how many changes were under way at that call. */
  async function killAt(verdict: 'keep' | 'keep-answer', step: number): Promise<number> {
    const folderOf = (title: string): string => `/${verdict}-${step}-${title.replaceAll(/[ ,]/g, '-')}`
    const all = changes(folderOf)
    const temporary = await makeTemporaryFolder()
    const { gate, testService } = gated
    gate.decide = () => 'pass'
    for (const { title, given } of all)
      for (const [name, content] of Object.entries({ ...given, 'stays.txt': 'stays' }))
        await testService.other.put(`${folderOf(title)}/${name}`, content)
    const start = (...args: string[]): Promise<WebdavDrive> =>
      startWebdavDrive({ folder: temporary.path, baseUrl: gate.baseUrl, apiKey: testService.apiKey, args })
    let drive = await start('--close-wait', '1s', '--cache-ttl', '10m')
    try {
      for (const { title } of all) await drive.ask('PROPFIND', folderOf(title), { headers: { depth: '1' } })
      const counts = new Map<string, number>()
      gate.decide = ({ path }) => {
        const folder = /^\/[^/]+/.exec(path)?.[0] ?? ''
        const count = (counts.get(folder) ?? 0) + 1
        counts.set(folder, count)
        if (count < step) return 'pass'
        return count === step ? verdict : 'keep'
      }
      const isHeld = (title: string): boolean => (counts.get(folderOf(title)) ?? 0) >= step
      const answered = new Map<string, number>(all.map(({ title }) => [title, 0]))
      const programs = all.map(async ({ title, requests }) => {
        for (const [method, name, how] of requests) {
          const { status } = await drive.ask(method, `${folderOf(title)}/${name}`, how)
          expect({ title, status: Math.floor(status / 100) }).toEqual({ title, status: 2 })
          answered.set(title, (answered.get(title) ?? 0) + 1)
        }
      })
      const ended = Promise.allSettled(programs)
      await waitUntil('every change to be done or held', async () => {
        const { unsent } = await drive.status()
        return all.every(
          ({ title, requests }) =>
            isHeld(title) ||
            (answered.get(title) === requests.length &&
              !unsent.some(({ path }) => path.startsWith(`${folderOf(title)}/`))),
        )
      })
      await gate.quiet()
      drive.signal('SIGKILL')
      await drive.ended
      for (const outcome of await ended)
        if (outcome.status === 'rejected') expect(String(outcome.reason)).toMatch(/ECONNRESET|socket hang up/)

      gate.decide = () => 'pass'
      gate.release()
      await gate.quiet()
      drive = await start()
      await drive.docmount(['wait', drive.url])
      for (const { title, after, requests } of all) {
        const documents = await testService.other.documents(folderOf(title))
        const held = Object.fromEntries(
          [...(documents ?? [])].map(([name, content]) => [name, content.toString()]),
        )
        const count = answered.get(title) ?? 0
        const possible = after.slice(count, Math.min(count + 1, requests.length) + 1)
        expect(
          possible.map((one) => ({ ...one, 'stays.txt': 'stays' })),
          title,
        ).toContainEqual(held)
      }
      expect(await drive.status()).toMatchObject({ unsent: [], conflicts: 0, localOnly: [] })
      return all.filter(({ title }) => isHeld(title)).length
    } finally {
      await drive.remove()
      await temporary.remove()
    }
  }

  it('in the middle of a body: the document is the old one, and half of the new is nowhere', async () => {
    const { gate, testService } = gated
    gate.decide = () => 'pass'
    await testService.other.put('/body/a.txt', 'old')
    const temporary = await makeTemporaryFolder()
    const start = (): Promise<WebdavDrive> =>
      startWebdavDrive({ folder: temporary.path, baseUrl: gate.baseUrl, apiKey: testService.apiKey })
    let drive = await start()
    try {
      const { hostname, port } = new URL(drive.url)
      const credentials = Buffer.from(`${drive.user}:${drive.password}`).toString('base64')
      for (const name of ['a.txt', 'b.txt']) {
        const socket = connect(Number(port), hostname)
        socket.on('error', () => {})
        await once(socket, 'connect')
        const head = `PUT /body/${name} HTTP/1.1\r\nHost: ${hostname}\r\nAuthorization: Basic ${credentials}\r\n`
        socket.write(`${head}Content-Length: 1000\r\n\r\nhalf of it`)
      }
      await waitUntil('both to be open', async () => (await drive.status()).openHandles === 2)
      drive.signal('SIGKILL')
      await drive.ended
      drive = await start()
      await drive.docmount(['wait', drive.url])
      expect((await drive.ask('GET', '/body/a.txt')).text).toBe('old')
      const documents = await testService.other.documents('/body')
      expect([...(documents?.keys() ?? [])]).toEqual(['a.txt'])
    } finally {
      await drive.remove()
      await temporary.remove()
    }
  })
})
