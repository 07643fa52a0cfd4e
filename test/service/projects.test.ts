import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { startService } from '../../src/service/index.ts'
import { isOnPostgres, storeOf } from '../support/store.ts'
import { type TestService, documentOf, errorOf, files, startTestService } from './support.ts'

let service: TestService
let otherKey: string

beforeAll(async () => {
  service = await startTestService({ projects: ['acme', 'Ümlaut & co'] })
  otherKey = service.service.projects[1]!.apiKey!
})
afterAll(() => service.close())

describe('a key', () => {
  test('opens its project, and GET /projects names it', async () => {
    const answer = await service.call('GET', '/projects')
    expect(answer.status).toBe(200)
    expect(await answer.json()).toEqual([
      { id: expect.stringMatching(/^[0-9a-f-]{36}$/), name: 'acme', created_at: expect.stringMatching(/Z$/) },
    ])
  })

  test('opens a project whose name has to be escaped', async () => {
    const path = `/projects/${encodeURIComponent('Ümlaut & co')}/files`
    const answer = await service.call('GET', path, { headers: { 'x-api-key': otherKey } })
    expect(answer.status).toBe(200)
  })

  test.each([
    ['absent', undefined],
    ['empty', ''],
    ['unknown', `dmk_${'A'.repeat(43)}`],
  ])('that is %s is answered with 401', async (_, key) => {
    for (const [method, path] of [
      ['GET', '/projects'],
      ['GET', files('/a.txt')],
      ['PUT', files('/a.txt')],
      ['DELETE', files('/a.txt')],
    ] as const) {
      const answer = await fetch(`${service.service.baseUrl}${path}`, {
        method,
        headers: { 'content-type': 'application/json', ...(key === undefined ? {} : { 'x-api-key': key }) },
        ...(method === 'PUT' ? { body: JSON.stringify(documentOf('x')) } : {}),
      })
      expect((await errorOf(answer)).status).toBe(401)
    }
  })

  test('tells nobody which projects there are: one that is not its own, and one that does not exist, are 401 alike', async () => {
    const headers = { 'x-api-key': otherKey }
    const ofAnother = await errorOf(await service.call('GET', files('/'), { headers }))
    expect(ofAnother).toEqual({ status: 401, message: 'the API key opens no project of this name' })
    for (const path of ['/projects/nobody/files', '/projects/nobody/tables'])
      expect(await errorOf(await service.call('GET', path, { headers }))).toEqual(ofAnother)
  })

  test.skipIf(isOnPostgres)('is not in the data folder, only its hash is', async () => {
    const { readFile, readdir } = await import('node:fs/promises')
    const names = (await readdir(service.dataDir)).filter((name) => name.startsWith('service.db'))
    expect(names).toContain('service.db')
    for (const name of names) {
      const bytes = await readFile(`${service.dataDir}/${name}`)
      expect(bytes.includes(service.key)).toBe(false)
    }
  })
})

describe('a service', () => {
  test('announces a key only for a project it has just made', async () => {
    const first = await startTestService({ projects: ['one'] })
    const { dataDir } = first
    await first.service.close()
    const second = await startService({ ...(await storeOf(dataDir)), projects: ['two', 'one'] })
    expect(second.projects).toEqual([
      { name: 'two', apiKey: expect.stringMatching(/^dmk_/) },
      { name: 'one', apiKey: undefined },
    ])
    await second.close()
    await first.close()
  })

  test.skipIf(isOnPostgres)(
    'refuses a folder that another service uses, by name, and takes it afterwards',
    async () => {
      const { dataDir } = service
      await expect(startService({ dataDir })).rejects.toThrow(dataDir)
      const own = await startTestService()
      await own.service.close()
      const next = await startService({ dataDir: own.dataDir })
      await next.close()
      await own.close()
    },
  )

  test('refuses project names that fit no URL', async () => {
    for (const name of ['', 'a/b', '..', 'a\nb']) {
      await expect(startTestService({ projects: [name] })).rejects.toThrow('not a project name')
    }
  })

  test('says of endpoints known by name only that they are not described', async () => {
    for (const [method, path] of [
      ['POST', '/extract'],
      ['POST', '/run'],
      ['GET', '/run/17'],
    ] as const) {
      expect((await errorOf(await service.call(method, path))).status).toBe(501)
    }
  })

  test('answers unknown URLs, unknown methods and broken escapes with an Error body', async () => {
    expect((await errorOf(await service.call('GET', '/nothing'))).status).toBe(404)
    expect((await errorOf(await service.call('PATCH', files('/a')))).status).toBe(405)
    expect((await errorOf(await service.call('GET', '/projects/%zz/files'))).status).toBe(400)
  })
})
