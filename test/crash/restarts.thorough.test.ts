// Rows of the fault table in docs/reliability.md. Kills, power cuts, unmounting with something unsent, starting without the service.

import { join } from 'node:path'

import { describe, expect, it } from 'vitest'

import { patternedBytes } from '../support/bytes.ts'
import type { CrashingDrive } from '../support/crashing-drive.ts'
import { whyNoFuse } from '../support/fuse.ts'
import { startGate } from '../support/gate.ts'
import { run } from '../support/run.ts'
import { waitUntil } from '../support/wait-until.ts'
import { useFaultDrive } from './fault-drive.ts'

describe.skipIf(whyNoFuse() !== undefined)('restarts', () => {
  const fault = useFaultDrive()

  it('unmount with something unsent says what and where, and the next mount sends it', async () => {
    const { calls, docmount, mountpoint, hasEnded } = await fault.mount(['--close-wait', '200ms'])
    await calls.readdir('')
    await fault.service.stop()
    await calls.writeFile('/a.txt', 'left behind')
    const ended = await docmount(['unmount', mountpoint, '--timeout', '2s'], { mayFail: true })
    expect(ended.code).not.toBe(0)
    expect(ended.stderr).toMatch(/\/a\.txt/)
    expect(ended.stderr).toContain(join(fault.folder, 'state'))
    await waitUntil('the daemon to end', hasEnded)
    await fault.service.start()
    const next = await fault.mount()
    await next.drain()
    expect(await fault.held('/a.txt')).toBe('left behind')
  })

  it('killed right after close: the content is there', async () => {
    const content = patternedBytes(5_000_000, 'right after close')
    const before = await fault.mount(['--close-wait', '0'])
    await before.calls.readdir('')
    await fault.service.stop()
    await before.calls.writeFile('/a.pdf', content)
    await before.kill()
    await fault.service.start()
    const { calls, drain } = await fault.mount()
    expect((await calls.readFile('/a.pdf')).equals(content)).toBe(true)
    await drain()
    expect((await fault.service.other.bytes('/a.pdf')).equals(content)).toBe(true)
    expect((await fault.service.other.get('/'))?.entries).toHaveLength(1)
  })

  it.each([
    ['small', 5_000],
    ['large', 500_000],
  ])(
    'a power cut that takes back the end of a %s upload: the document is as it was saved',
    async (_, size) => {
      const content = patternedBytes(size, 'saved before the power cut')
      await using gate = await startGate(() => Number(new URL(fault.service.baseUrl).port))
      const state = join(fault.folder, 'cut-state')
      const saved = join(fault.folder, 'journal-before')
      const start = (): Promise<CrashingDrive> =>
        fault.mount(['--state-dir', state, '--close-wait', '200ms'], { baseUrl: gate.baseUrl })
      const before = await start()
      await before.calls.readdir('')
      gate.decide = ({ method }) => (method === 'PUT' ? 'keep' : 'pass')
      await before.calls.writeFile('/a.pdf', content)
      await run('sh', ['-c', 'mkdir "$2" && cp "$1"/journal.db "$1"/journal.db-wal "$2"', 'sh', state, saved])
      gate.decide = () => 'pass'
      gate.release()
      await before.drain()
      await before.kill()
      // Rows not synced yet are gone: the journal is as it was before the answer came. Files that were removed stay so.
      await run('sh', ['-c', 'rm "$1"/journal.db* && cp "$2"/* "$1"', 'sh', state, saved])
      const { calls, drain, status } = await start()
      expect((await calls.readFile('/a.pdf')).equals(content)).toBe(true)
      await drain()
      expect(await status()).toMatchObject({ conflicts: 0 })
      expect(await calls.readdir('')).toEqual(['a.pdf'])
      expect((await fault.service.other.bytes('/a.pdf')).equals(content)).toBe(true)
    },
  )

  it('a small document whose file lost its bytes in a power cut is whole', async () => {
    const state = join(fault.folder, 'cut-state')
    const args = ['--state-dir', state, '--close-wait', '0']
    const before = await fault.mount(args)
    await before.calls.readdir('')
    await fault.service.stop()
    await before.calls.writeFile('/a.txt', 'in the journal')
    await before.kill()
    await run('sh', ['-c', 'for f in "$1"/spool/*; do : > "$f"; done', 'sh', state])
    await fault.service.start()
    const { calls, drain } = await fault.mount(args)
    expect((await calls.readFile('/a.txt')).toString()).toBe('in the journal')
    await drain()
    expect(await fault.held('/a.txt')).toBe('in the journal')
  })

  it('killed in the middle of an upload of 100 MB: it is sent again, whole', async () => {
    const content = patternedBytes(100_000_000, '100 MB')
    const before = await fault.mount(['--close-wait', '0'])
    await before.calls.writeFile('/large.pdf', content)
    await waitUntil('the upload to be under way', async () => (await before.unsent())[0]?.state === 'sending')
    await before.kill()
    expect(await fault.service.other.get('/large.pdf')).toBeUndefined()
    const { calls, drain } = await fault.mount()
    expect((await calls.stat('/large.pdf')).size).toBe(content.length)
    await drain()
    expect((await fault.service.other.bytes('/large.pdf')).equals(content)).toBe(true)
    expect((await calls.readFile('/large.pdf')).equals(content)).toBe(true)
  })

  it('mounted while the service is down: the last listing is shown, and status says that it is stale', async () => {
    await fault.service.other.put('/in/a.txt', 'a')
    const before = await fault.mount()
    expect(await before.calls.readdir('/in')).toEqual(['a.txt'])
    expect((await before.calls.readFile('/in/a.txt')).toString()).toBe('a')
    await before.unmount()
    await fault.service.stop()
    const { calls, status, docmount, mountpoint, drain } = await fault.mount()
    expect(await calls.readdir('')).toEqual(['in'])
    expect(await calls.readdir('/in')).toEqual(['a.txt'])
    expect(await status()).toMatchObject({ stale: true, service: 'away' })
    expect((await docmount(['status', mountpoint])).stdout).toMatch(
      /service away since .* what is shown may be old/,
    )
    await calls.writeFile('/in/b.txt', 'written meanwhile')
    await fault.service.start()
    await waitUntil('the listing to be fresh', async () => !(await status()).stale, 60_000)
    await drain()
    expect(await fault.held('/in/b.txt')).toBe('written meanwhile')
  })
})
