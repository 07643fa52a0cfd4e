// A drive that is served by WebDAV, as the person at the command line sees it: alone, and beside a mount.

import { readFile, readdir, rename, rm, stat, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'

import { whyNoFuse } from '../support/fuse.ts'
import { run } from '../support/run.ts'
import { startTestService, type TestService } from '../support/service.ts'
import { makeTemporaryFolder, type TemporaryFolder } from '../support/temporary-folder.ts'
import { startWebdavDrive, type WebdavDrive, type WebdavDriveOptions } from '../support/webdav-drive.ts'

let temporary: TemporaryFolder
let testService: TestService
let drive: WebdavDrive

beforeEach(async () => {
  temporary = await makeTemporaryFolder()
  testService = await startTestService()
})
afterEach(async () => {
  await drive.remove()
  await testService.close()
  await temporary.remove()
})

async function start(options: Partial<WebdavDriveOptions> = {}): Promise<void> {
  const { baseUrl, apiKey } = testService
  drive = await startWebdavDrive({ folder: temporary.path, baseUrl, apiKey, ...options })
}

const stored = async (path: string): Promise<string> => (await testService.other.bytes(path)).toString()

describe('docmount webdav', () => {
  it('serves, says how it fares, waits, and ends by its address', async () => {
    await start()
    expect((await drive.ask('PUT', '/a.txt', { body: 'a' })).status).toBe(201)
    expect(await stored('/a.txt')).toBe('a')
    expect(await drive.status()).toMatchObject({
      mountpoint: drive.url,
      driver: 'webdav',
      state: 'live',
      unsent: [],
      webdav: { url: drive.url, user: 'docmount' },
    })
    expect((await drive.docmount(['wait', `${drive.url}/a.txt`])).code).toBe(0)
    expect((await drive.docmount(['unmount', `${drive.url}/`])).code).toBe(0)
    expect(await drive.ended).toBe(0)
  })

  it('tells of a document by its address, as a listing has it, and as people type it', async () => {
    await start()
    for (const [name, address] of [
      ['R&D #1.txt', 'R%26D%20%231.txt'],
      ['100%.txt', '100%.txt'],
    ] as const) {
      await drive.ask('PUT', `/${encodeURIComponent(name)}`, { body: 'a' })
      const { stdout } = await drive.docmount(['status', `${drive.url}/${address}`])
      expect(stdout).toMatch(/with the service/)
      expect(stdout).toContain(`/${name}`)
    }
    await drive.docmount(['unmount', drive.url])
  })

  it('keeps the password for itself, in a file for its owner alone', async () => {
    await start()
    const { webdav } = await drive.status()
    const { mode } = await stat(webdav?.passwordFile ?? '')
    expect(mode & 0o777).toBe(0o600)
    // Letters and digits only: no program takes it for an option.
    expect(drive.password).toMatch(/^[0-9a-z]{20,}$/)
    expect(drive.log()).not.toContain(drive.password)
    expect(await readFile(`/proc/${drive.pid}/cmdline`, 'utf8')).not.toContain(drive.password)
    await drive.docmount(['unmount', drive.url])
    const { password } = drive
    await start()
    expect(drive.password).toBe(password)
  })

  it('refuses an address that others reach, unless it is told what it does', async () => {
    await start()
    const open = await drive.docmount(['webdav', 'acme', '--listen', '0.0.0.0:0'], { mayFail: true })
    expect(open).toMatchObject({ code: 2, stderr: expect.stringContaining('--cert') })
  })

  it('is served once', async () => {
    await start()
    const listen = drive.url.replace('http://', '')
    await drive.docmount(['unmount', drive.url])
    await start({ args: ['--listen', listen] })
    const again = await drive.docmount(['webdav', 'acme', '--listen', listen], { mayFail: true })
    expect(again).toMatchObject({
      code: 0,
      stdout: expect.stringContaining(`acme is served at ${drive.url} already`),
    })
    expect((await drive.ask('OPTIONS', '/')).status).toBe(200)
  })

  it('waits for no document that a client has begun and not filled', async () => {
    await start()
    expect((await drive.ask('PUT', '/begun.txt')).status).toBe(201)
    expect((await drive.docmount(['wait', drive.url])).code).toBe(0)
    expect(await stored('/begun.txt')).toBe('')
    expect((await drive.ask('PUT', '/begun.txt', { body: 'later' })).status).toBe(204)
    expect(await stored('/begun.txt')).toBe('later')
  })

  it('keeps what is saved while the service is away, and SIGTERM sends it when it is back', async () => {
    await start()
    await testService.stop()
    expect((await drive.ask('PUT', '/away.txt', { body: 'kept here' })).status).toBe(201)
    expect((await drive.ask('GET', '/away.txt')).text).toBe('kept here')
    expect((await drive.status()).unsent).toMatchObject([{ path: '/away.txt' }])
    drive.signal('SIGTERM')
    await testService.start()
    expect(await drive.ended).toBe(0)
    expect(await stored('/away.txt')).toBe('kept here')
  })

  it('says of a read-only drive that it is one', async () => {
    await start({ args: ['--read-only'] })
    const refused = await drive.ask('PUT', '/a.txt', { body: 'a' })
    expect(refused).toMatchObject({ status: 403, text: 'the drive is read-only\n' })
  })
})

describe('docmount mount --webdav', () => {
  if (whyNoFuse() !== undefined) {
    it.skip(`not run: ${whyNoFuse()}`)
    return
  }
  const at = (name: string): string => join(drive.mountpoint, name)

  it('shows at one door at once what is changed through the other', async () => {
    await start({ isMounted: true })
    // The kernel keeps each of these answers, until it is told otherwise.
    const names = async (): Promise<string[]> => (await readdir(drive.mountpoint)).toSorted()
    expect(await names()).toEqual([])
    await expect(stat(at('a.txt'))).rejects.toThrow('ENOENT')
    await drive.ask('PUT', '/a.txt', { body: 'one' })
    expect(await readFile(at('a.txt'), 'utf8')).toBe('one')
    await drive.ask('PUT', '/a.txt', { body: 'two, longer' })
    expect(await readFile(at('a.txt'), 'utf8')).toBe('two, longer')
    await drive.ask('MKCOL', '/folder')
    await drive.ask('MOVE', '/a.txt', { headers: { destination: '/folder/b.txt' } })
    expect(await names()).toEqual(['folder'])
    await expect(stat(at('a.txt'))).rejects.toThrow('ENOENT')
    await drive.ask('COPY', '/folder/b.txt', { headers: { destination: '/c.txt' } })
    expect(await readFile(at('c.txt'), 'utf8')).toBe('two, longer')
    await drive.ask('DELETE', '/folder')
    expect(await names()).toEqual(['c.txt'])

    await writeFile(at('d.txt'), 'by the kernel')
    expect((await drive.ask('GET', '/d.txt')).text).toBe('by the kernel')
    await rename(at('d.txt'), at('e.txt'))
    expect((await drive.ask('GET', '/d.txt')).status).toBe(404)
    await rm(at('c.txt'))
    const { text } = await drive.ask('PROPFIND', '/', { headers: { depth: '1' } })
    expect(Array.from(text.matchAll(/<D:href>([^<]*)</g), ([, href]) => href)).toEqual(['/', '/e.txt'])
  })

  it('ends both doors together, by unmount', async () => {
    await start({ isMounted: true })
    await drive.ask('PUT', '/a.txt', { body: 'a' })
    expect(await drive.status()).toMatchObject({ driver: 'kernel', webdav: { url: drive.url } })
    expect((await drive.docmount(['unmount', drive.mountpoint])).code).toBe(0)
    expect(await drive.ended).toBe(0)
    await expect(drive.ask('GET', '/a.txt')).rejects.toThrow('ECONNREFUSED')
    expect((await run('findmnt', [drive.mountpoint], { mayFail: true })).code).not.toBe(0)
  })
})
