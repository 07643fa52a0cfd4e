import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { type CompiledCommand, type ServeProcess, compileCommand } from './compiled-command.ts'

let command: CompiledCommand
let folder: string
let dataDir: string
let service: ServeProcess

beforeAll(async () => {
  command = await compileCommand()
  folder = await mkdtemp(join(tmpdir(), 'docmount-serve-'))
  dataDir = join(folder, 'data')
  service = await command.serve('--data', dataDir, '--project', 'acme', '--project', 'other')
})
afterAll(async () => {
  await service.end('SIGTERM')
  await command.remove()
  await rm(folder, { recursive: true, force: true })
})

const statusWith = async (key: string): Promise<number> =>
  (await fetch(`${service.announcement.base_url}/projects`, { headers: { 'x-api-key': key } })).status

const failureOf = (...args: string[]): Promise<{ code: number; stderr: string }> =>
  command.run(...args).then(
    () => Promise.reject(new Error('it did not fail')),
    (error: { code: number; stderr: string }) => error,
  )

describe('docmount serve', () => {
  test('announces its address and the keys it has just made, once it is listening', async () => {
    expect(service.announcement).toEqual({
      base_url: expect.stringMatching(/^http:\/\/127\.0\.0\.1:\d+\/api$/),
      projects: [
        { name: 'acme', api_key: expect.stringMatching(/^dmk_/) },
        { name: 'other', api_key: expect.stringMatching(/^dmk_/) },
      ],
    })
    expect(await statusWith(service.announcement.projects[0]!.api_key!)).toBe(200)
  })

  test('refuses a folder in use in one line that names it', async () => {
    const { code, stderr } = await failureOf('serve', '--data', dataDir)
    expect(code).toBe(1)
    expect(stderr).toBe(
      `docmount: another docmount service is using ${dataDir}: stop it or choose another folder\n`,
    )
  })

  test.each([['nowhere'], ['127.0.0.1'], ['127.0.0.1:99999']])('refuses --listen %s', async (listen) => {
    const { code, stderr } = await failureOf('serve', '--data', dataDir, '--listen', listen)
    expect([code, stderr]).toEqual([2, expect.stringContaining('HOST:PORT')])
  })

  test('ends cleanly on SIGTERM, and starts again without new keys', async () => {
    const other = join(folder, 'again')
    for (const expected of [{ name: 'a', api_key: expect.any(String) }, { name: 'a' }]) {
      const again = await command.serve('--data', other, '--project', 'a')
      expect(again.announcement.projects).toEqual([expected])
      expect(await again.end('SIGTERM')).toBe(0)
    }
  })

  test('logs neither keys nor signatures', async () => {
    const key = service.announcement.projects[0]!.api_key!
    expect(service.log()).toContain('listening')
    expect(service.log()).not.toContain(key)
  })
})

describe('docmount keys', () => {
  test('makes a key that a running service takes at once, and revokes it', async () => {
    const key = (await command.run('keys', 'create', 'acme', '--data', dataDir)).stdout.trim()
    expect(await statusWith(key)).toBe(200)
    const list = JSON.parse(
      (await command.run('keys', 'list', 'acme', '--data', dataDir, '--json')).stdout,
    ) as {
      id: string
    }[]
    expect(list).toHaveLength(2)
    expect(JSON.stringify(list)).not.toContain(key)
    await command.run('keys', 'revoke', 'acme', list.at(-1)!.id, '--data', dataDir)
    expect(await statusWith(key)).toBe(401)
    expect(await statusWith(service.announcement.projects[0]!.api_key!)).toBe(200)
  })

  test('revokes all keys of a project where none is named, and of no other', async () => {
    await command.run('keys', 'create', 'other', '--data', dataDir)
    expect((await command.run('keys', 'revoke', 'other', '--data', dataDir)).stdout).toBe('2 revoked\n')
    expect(await statusWith(service.announcement.projects[1]!.api_key!)).toBe(401)
    expect(await statusWith(service.announcement.projects[0]!.api_key!)).toBe(200)
  })

  test('says what is wrong with an unknown project, folder or id', async () => {
    expect((await failureOf('keys', 'create', 'nobody', '--data', dataDir)).stderr).toContain(
      'there is no project nobody',
    )
    expect((await failureOf('keys', 'list', 'acme', '--data', folder)).stderr).toContain('is no data folder')
    expect((await failureOf('keys', 'revoke', 'acme', 'abc', '--data', dataDir)).stderr).toContain(
      'has no key abc',
    )
  })
})
