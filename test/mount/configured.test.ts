// A drive that is mounted at login sees no shell: what it needs is in the config file.

import { mkdir, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { afterEach, beforeEach, describe, expect, test } from 'vitest'
import { startService } from '../../src/service/start-service.ts'
import { startDesk, type Desk } from '../support/desk.ts'
import { startForwardProxy } from '../support/forward-proxy.ts'
import { whyNoFuse } from '../support/fuse.ts'
import { bareHomeIn } from '../support/home.ts'
import { makePrivateAuthority } from '../support/private-authority.ts'
import { project } from '../support/service.ts'

/** An address of this machine that stands for another machine's. */
const elsewhere = '127.0.0.2'

let desk: Desk
beforeEach(async () => {
  desk = await startDesk()
  desk.env = bareHomeIn(desk.home)
  await mkdir(join(desk.home, '.config/docmount'), { recursive: true })
})
afterEach(() => desk.close())

function configure(config: object): Promise<void> {
  return writeFile(join(desk.home, '.config/docmount/config.json'), JSON.stringify(config), { mode: 0o600 })
}

describe.skipIf(whyNoFuse() !== undefined)('a drive of the config file', () => {
  test('has the options of its project, and those of the command line before them', async () => {
    const { baseUrl, apiKey } = desk.testService
    const acme = { unsupported_as: 'text/plain', cache_size: '123MiB', pin_size: '45MiB' }
    await configure({ base_url: baseUrl, api_key: apiKey, cache_size: '1GiB', projects: { [project]: acme } })
    const drive = await desk.mount('drive', '--pin-size', '67MiB')
    expect((await desk.save(join(drive, 'a.docx'), 'letter')).code).toBe(0)
    expect((await desk.testService.other.bytes('/a.docx')).toString()).toBe('letter')
    const { stdout } = await desk.docmount('cache', drive)
    expect(stdout).toContain('123.0 MiB')
    expect(stdout).toContain('67.0 MiB')
  })

  test('goes through its proxy, to a service with a certificate of its own authority', async () => {
    const { ca, cert, key } = await makePrivateAuthority(desk.home, elsewhere)
    const service = await startService({
      dataDir: join(desk.home, 'service'),
      host: elsewhere,
      port: 0,
      projects: [project],
      tls: { cert, key },
    })
    await using proxy = await startForwardProxy()
    try {
      const apiKey = await service.createKey(project)
      const acme = { base_url: service.baseUrl, api_key: apiKey, proxy: proxy.host, ca_file: ca }
      await configure({ projects: { [project]: acme } })
      const drive = await desk.mount('drive')
      expect((await desk.save(join(drive, 'a.txt'), 'first')).code).toBe(0)
      expect((await desk.save(join(drive, 'a.txt'), 'second')).code).toBe(0)
      expect((await desk.docmount('unmount', drive)).code).toBe(0)
      expect((await desk.docmount('get', project, '/a.txt', '-', '-q')).stdout).toBe('second')
      expect(new Set(proxy.tunnels)).toEqual(new Set([new URL(service.baseUrl).host]))
    } finally {
      await service.close()
    }
  })

  test('with a wrong value is not mounted: file and field are named', async () => {
    const { baseUrl, apiKey } = desk.testService
    await configure({ base_url: baseUrl, api_key: apiKey, projects: { [project]: { close_wait: 'long' } } })
    const { code, stderr } = await desk.docmount('mount', project, desk.drive)
    expect(stderr).toBe(
      `docmount: ${join(desk.home, '.config/docmount/config.json')}: "projects"."acme"."close_wait": ` +
        'write a duration like 30s, 500ms or 10m\n',
    )
    expect(code).toBe(1)
  })
})
