// Rows of the fault table in docs/reliability.md. The service is away, refuses, or the key does: what the user sees, and what is kept.

import { readFile, writeFile } from 'node:fs/promises'
import { join } from 'node:path'

import { describe, expect, it } from 'vitest'

import { patternedBytes } from '../support/bytes.ts'
import { whyNoFuse } from '../support/fuse.ts'
import { startGate } from '../support/gate.ts'
import { run } from '../support/run.ts'
import { waitUntil } from '../support/wait-until.ts'
import { errorOf, useFaultDrive } from './fault-drive.ts'

describe.skipIf(whyNoFuse() !== undefined)('faults', () => {
  const fault = useFaultDrive()

  it('a second daemon on the same state folder is refused in one line', async () => {
    const { docmount } = await fault.mount(['--state-dir', join(fault.folder, 'one-state')])
    const elsewhere = join(fault.folder, 'elsewhere')
    await run('mkdir', [elsewhere])
    const second = await docmount(
      [
        'mount',
        'acme',
        elsewhere,
        '--base-url',
        fault.service.baseUrl,
        '--state-dir',
        join(fault.folder, 'one-state'),
      ],
      { mayFail: true },
    )
    expect(second.code).not.toBe(0)
    expect(second.stderr).toMatch(
      /^docmount: .*another docmount uses the state folder \S+: unmount it first\n$/,
    )
  })

  it('service down: saving succeeds, status shows it, it is sent when the service is back', async () => {
    const { calls, docmount, mountpoint, unsent, drain } = await fault.mount()
    await calls.readdir('')
    await fault.service.stop()
    await calls.writeFile('/a.txt', 'saved in the dark')
    expect((await calls.readFile('/a.txt')).toString()).toBe('saved in the dark')
    expect(await unsent()).toMatchObject([{ path: '/a.txt', bytes: 17, action: 'upload' }])
    expect((await docmount(['status', mountpoint])).stdout).toMatch(/1 not sent/)
    await fault.service.start()
    await waitUntil(
      'it to be sent without being asked',
      async () => (await fault.held('/a.txt')) === 'saved in the dark',
    )
    await drain()
  })

  it('service down: what was read is read, what was not fails', async () => {
    await fault.service.other.put('/seen.txt', 'seen')
    await fault.service.other.put('/unseen.pdf', patternedBytes(2_000_000, 'unseen'))
    const { calls } = await fault.mount(['--cache-ttl', '10m'])
    await calls.readdir('')
    await calls.readFile('/seen.txt')
    await fault.service.stop()
    expect((await calls.readFile('/seen.txt')).toString()).toBe('seen')
    expect(['EIO', 'ETIMEDOUT']).toContain(await errorOf(calls.readFile('/unseen.pdf')))
    await fault.service.start()
  })

  it('key revoked: work waits, and goes on with the new key in the key file', async () => {
    const revoked = fault.service.apiKey
    const keyFile = join(fault.folder, 'key')
    await writeFile(keyFile, `${revoked}\n`, { mode: 0o600 })
    await using gate = await startGate(() => Number(new URL(fault.service.baseUrl).port))
    const { calls, unsent, drain } = await fault.mount([], {
      baseUrl: gate.baseUrl,
      apiKey: '',
      env: { DOCMOUNT_API_KEY: '', DOCMOUNT_API_KEY_FILE: keyFile },
    })
    await calls.readdir('')
    gate.decide = ({ apiKey }) => (apiKey === revoked ? 'unauthorized' : 'pass')
    const saving = errorOf(calls.writeFile('/a.txt', 'kept'))
    await waitUntil('the refusal to be known', async () => (await unsent())[0]?.lastError?.includes('401'))
    expect((await calls.readFile('/a.txt')).toString()).toBe('kept')
    await writeFile(keyFile, `${await fault.service.service.createKey('acme')}\n`)
    expect(await saving).toBeUndefined()
    await drain()
    expect(await fault.held('/a.txt')).toBe('kept')
  })

  it.each(['the environment', 'the config file'])(
    'key of %s revoked: work waits, and goes on with the key that docmount login keeps',
    async (origin) => {
      const revoked = fault.service.apiKey
      const config = join(fault.folder, 'config.json')
      await using gate = await startGate(() => Number(new URL(fault.service.baseUrl).port))
      const keep = (api_key: string): Promise<void> => {
        const projects = { acme: { base_url: gate.baseUrl, api_key } }
        return writeFile(config, JSON.stringify({ projects }), { mode: 0o600 })
      }
      if (origin === 'the config file') await keep(revoked)
      const { calls, unsent, drain } = await fault.mount([], {
        baseUrl: gate.baseUrl,
        apiKey: origin === 'the environment' ? revoked : '',
        env: { DOCMOUNT_CONFIG: config },
      })
      await calls.readdir('')
      gate.decide = ({ apiKey }) => (apiKey === revoked ? 'unauthorized' : 'pass')
      const saving = errorOf(calls.writeFile('/a.txt', 'kept'))
      await waitUntil('the refusal to be known', async () => (await unsent())[0]?.lastError?.includes('401'))
      await keep(await fault.service.service.createKey('acme'))
      expect(await saving).toBeUndefined()
      await drain()
      expect(await fault.held('/a.txt')).toBe('kept')
    },
  )

  it('upload refused (4xx): close tells, the content is kept, retry sends it, recover copies it out', async () => {
    const { calls, docmount, mountpoint, unsent, drain } = await fault.mount()
    const { faults } = fault.service.service
    const clear = faults.inject({ kind: 'status', status: 413 }, { method: 'PUT' })
    expect(await errorOf(calls.writeFile('/a.txt', 'precious'))).toBe('EFBIG')
    expect(await unsent()).toMatchObject([{ path: '/a.txt', state: 'refused' }])
    const rescued = join(fault.folder, 'rescued.txt')
    await docmount(['recover', join(mountpoint, 'a.txt'), rescued])
    expect(await readFile(rescued, 'utf8')).toBe('precious')
    const waited = await docmount(['wait', mountpoint], { mayFail: true })
    expect(waited.code).not.toBe(0)
    expect(waited.stderr).toMatch(/413/)
    clear()
    await docmount(['retry', mountpoint])
    await drain()
    expect(await fault.held('/a.txt')).toBe('precious')
  })
})
