// The rows of the fault table in docs/reliability.md that need a drive of their own: what the user sees, and what is kept.

import { readFile, writeFile } from 'node:fs/promises'
import { join } from 'node:path'

import { afterEach, beforeEach, describe, expect, it } from 'vitest'

import { patternedBytes } from '../support/bytes.ts'
import { startCrashingDrive, type CrashingDrive } from '../support/crashing-drive.ts'
import { whyNoFuse } from '../support/fuse.ts'
import { startGate } from '../support/gate.ts'
import { run } from '../support/run.ts'
import { startTestService, type TestService } from '../support/service.ts'
import { makeTemporaryFolder, type TemporaryFolder } from '../support/temporary-folder.ts'
import { waitUntil } from '../support/wait-until.ts'

const isRoot = process.getuid?.() === 0

let temporary: TemporaryFolder
let testService: TestService
let drive: CrashingDrive | undefined

beforeEach(async () => {
  temporary = await makeTemporaryFolder()
  testService = await startTestService()
})

afterEach(async ({ task }) => {
  if (task.result?.state === 'fail') console.error(drive?.log())
  await drive?.remove()
  drive = undefined
  await run('umount', ['-l', join(temporary.path, 'small')], { mayFail: true })
  await testService.close()
  await temporary.remove()
})

async function mount(args: readonly string[] = [], env: NodeJS.ProcessEnv = {}): Promise<CrashingDrive> {
  const { path: folder } = temporary
  drive = await startCrashingDrive({
    folder,
    baseUrl: testService.baseUrl,
    apiKey: testService.apiKey,
    args,
    env,
  })
  return drive
}

/** What the service holds at a path, as text. */
async function held(path: string): Promise<string | undefined> {
  return (await testService.other.get(path)) === undefined
    ? undefined
    : (await testService.other.bytes(path)).toString()
}

async function errorOf(work: Promise<unknown>): Promise<string | undefined> {
  return work.then(
    () => undefined,
    (error: NodeJS.ErrnoException) => error.code ?? error.message,
  )
}

/** A file system of its own, so that it can be full. */
async function smallDisk(size: string): Promise<string> {
  const folder = join(temporary.path, 'small')
  await run('mkdir', ['-p', folder])
  await run('mount', ['-t', 'tmpfs', '-o', `size=${size},mode=0700`, 'tmpfs', folder])
  return folder
}

describe.skipIf(whyNoFuse() !== undefined)('faults', () => {
  it('a second daemon on the same state folder is refused in one line', async () => {
    const { docmount } = await mount(['--state-dir', join(temporary.path, 'one-state')])
    const elsewhere = join(temporary.path, 'elsewhere')
    await run('mkdir', [elsewhere])
    const second = await docmount(
      [
        'mount',
        'acme',
        elsewhere,
        '--base-url',
        testService.baseUrl,
        '--state-dir',
        join(temporary.path, 'one-state'),
      ],
      { mayFail: true },
    )
    expect(second.code).not.toBe(0)
    expect(second.stderr).toMatch(
      /^docmount: .*another docmount uses the state folder \S+: unmount it first\n$/,
    )
  })

  it('service down: saving succeeds, status shows it, it is sent when the service is back', async () => {
    const { calls, docmount, mountpoint, unsent, drain } = await mount()
    await calls.readdir('')
    await testService.stop()
    await calls.writeFile('/a.txt', 'saved in the dark')
    expect((await calls.readFile('/a.txt')).toString()).toBe('saved in the dark')
    expect(await unsent()).toMatchObject([{ path: '/a.txt', bytes: 17, action: 'upload' }])
    expect((await docmount(['status', mountpoint])).stdout).toMatch(/1 not sent/)
    await testService.start()
    await waitUntil(
      'it to be sent without being asked',
      async () => (await held('/a.txt')) === 'saved in the dark',
    )
    await drain()
  })

  it('service down: what was read is read, what was not fails within 15 s', async () => {
    await testService.other.put('/seen.txt', 'seen')
    await testService.other.put('/unseen.pdf', patternedBytes(2_000_000, 'unseen'))
    const { calls } = await mount(['--cache-ttl', '10m'])
    await calls.readdir('')
    await calls.readFile('/seen.txt')
    await testService.stop()
    expect((await calls.readFile('/seen.txt')).toString()).toBe('seen')
    const startedAt = Date.now()
    expect(['EIO', 'ETIMEDOUT']).toContain(await errorOf(calls.readFile('/unseen.pdf')))
    expect(Date.now() - startedAt).toBeLessThan(15_000 + 5_000)
    await testService.start()
  })

  it('key revoked: work waits, and goes on with the new key in the key file', async () => {
    const revoked = testService.apiKey
    const keyFile = join(temporary.path, 'key')
    await writeFile(keyFile, `${revoked}\n`, { mode: 0o600 })
    await using gate = await startGate(() => Number(new URL(testService.baseUrl).port))
    drive = await startCrashingDrive({
      folder: temporary.path,
      baseUrl: gate.baseUrl,
      apiKey: '',
      env: { DOCMOUNT_API_KEY: '', DOCMOUNT_API_KEY_FILE: keyFile },
    })
    const { calls, unsent, drain } = drive
    await calls.readdir('')
    gate.decide = ({ apiKey }) => (apiKey === revoked ? 'unauthorized' : 'pass')
    const saving = errorOf(calls.writeFile('/a.txt', 'kept'))
    await waitUntil('the refusal to be known', async () => (await unsent())[0]?.lastError?.includes('401'))
    expect((await calls.readFile('/a.txt')).toString()).toBe('kept')
    await writeFile(keyFile, `${await testService.service.createKey('acme')}\n`)
    expect(await saving).toBeUndefined()
    await drain()
    expect(await held('/a.txt')).toBe('kept')
  })

  it('upload refused (4xx): close tells, the content is kept, retry sends it, recover copies it out', async () => {
    const { calls, docmount, mountpoint, unsent, drain } = await mount()
    const { faults } = testService.service
    const clear = faults.inject({ kind: 'status', status: 403 }, { method: 'PUT' })
    expect(await errorOf(calls.writeFile('/a.txt', 'precious'))).toBe('EACCES')
    expect(await unsent()).toMatchObject([{ path: '/a.txt', state: 'refused' }])
    const rescued = join(temporary.path, 'rescued.txt')
    await docmount(['recover', join(mountpoint, 'a.txt'), rescued])
    expect(await readFile(rescued, 'utf8')).toBe('precious')
    const waited = await docmount(['wait', mountpoint], { mayFail: true })
    expect(waited.code).not.toBe(0)
    expect(waited.stderr).toMatch(/403/)
    clear()
    await docmount(['retry', mountpoint])
    await drain()
    expect(await held('/a.txt')).toBe('precious')
  })

  it.skipIf(!isRoot)(
    'disk full in the state folder: write is ENOSPC, what was saved before arrives',
    async () => {
      const small = await smallDisk('12m')
      const { calls, drain } = await mount(['--state-dir', join(small, 'state'), '--close-wait', '200ms'])
      await calls.readdir('')
      await testService.stop()
      await calls.writeFile('/before.txt', 'saved before the disk was full')
      expect(await errorOf(calls.writeFile('/large.pdf', patternedBytes(16_000_000, 'large')))).toBe('ENOSPC')
      // Another program takes what is left, to the last byte.
      await run('sh', ['-c', 'cat /dev/zero > "$1/theirs" 2>/dev/null || true', 'sh', small])
      expect(await errorOf(calls.writeFile('/little.txt', 'no room'))).toBe('ENOSPC')
      expect((await calls.readFile('/before.txt')).toString()).toBe('saved before the disk was full')
      await testService.start()
      await drain()
      expect(await held('/before.txt')).toBe('saved before the disk was full')
      await calls.unlink('/large.pdf')
      await calls.unlink('/before.txt')
      await drain()
      expect(await held('/before.txt')).toBeUndefined()
      await run('rm', [join(small, 'theirs')])
      await calls.writeFile('/after.txt', 'there is room again')
      await drain()
      expect(await held('/after.txt')).toBe('there is room again')
    },
  )

  it.skipIf(!isRoot)('cache folder full: reads go on without it', async () => {
    const small = await smallDisk('1m')
    const content = patternedBytes(8_000_000, 'larger than the cache disk')
    await testService.other.put('/a.pdf', content)
    const { calls } = await mount(['--cache-dir', join(small, 'cache')])
    expect((await calls.readFile('/a.pdf')).equals(content)).toBe(true)
    await calls.writeFile('/b.pdf', content)
    expect((await calls.readFile('/b.pdf')).equals(content)).toBe(true)
    expect((await testService.other.bytes('/b.pdf')).equals(content)).toBe(true)
  })

  it('cache folder unwritable: reads go on without it', async () => {
    const content = patternedBytes(3_000_000, 'no cache')
    await testService.other.put('/a.pdf', content)
    const cache = join(temporary.path, 'broken-cache')
    const { calls } = await mount(['--cache-dir', cache])
    await run('sh', ['-c', 'rm -rf "$1"/* && touch "$1/file" && rm -rf "$1" && touch "$1"', 'sh', cache])
    expect((await calls.readFile('/a.pdf')).equals(content)).toBe(true)
    await calls.writeFile('/b.txt', 'written all the same')
    expect(await held('/b.txt')).toBe('written all the same')
  })

  it('a version nobody here has seen is kept beside ours', async () => {
    await testService.other.put('/a.txt', 'first')
    const { calls, drain, status } = await mount()
    await calls.readFile('/a.txt')
    const file = await calls.open('/a.txt', 'r+')
    await file.write('ours!', 0)
    await testService.other.put('/a.txt', 'theirs')
    await file.close()
    await drain()
    expect(await held('/a.txt')).toBe('ours!')
    const names = ((await testService.other.get('/'))?.entries ?? []).map(({ name }) => name)
    const copy = names.find((name) => /^a \(conflict \d{4}-\d\d-\d\d \d\d\.\d\d\.\d\d .+\)\.txt$/.test(name))
    expect(await held(`/${copy}`)).toBe('theirs')
    expect((await status()).conflicts).toBe(1)
  })

  it('two versions of the same size within one second are both kept beside ours', async () => {
    await testService.other.put('/a.txt', 'first')
    const { calls, drain } = await mount()
    await calls.readFile('/a.txt')
    for (const [ours, theirs] of [
      ['ours 1', 'theirs 1'],
      ['ours 2', 'theirs 2'],
    ] as const) {
      const file = await calls.open('/a.txt', 'r+')
      await file.write(ours, 0)
      await testService.other.put('/a.txt', theirs)
      await file.close()
    }
    await drain()
    const entries = (await testService.other.get('/'))?.entries ?? []
    const contents = await Promise.all(entries.map(({ name }) => held(`/${name}`)))
    expect(contents.toSorted((a, b) => (a ?? '').localeCompare(b ?? ''))).toEqual([
      'ours 2',
      'theirs 1',
      'theirs 2',
    ])
  })

  it('--on-conflict overwrite keeps no copy', async () => {
    await testService.other.put('/a.txt', 'first')
    const { calls, drain } = await mount(['--on-conflict', 'overwrite'])
    await calls.readFile('/a.txt')
    const file = await calls.open('/a.txt', 'r+')
    await file.write('ours!', 0)
    await testService.other.put('/a.txt', 'theirs')
    await file.close()
    await drain()
    expect(await held('/a.txt')).toBe('ours!')
    expect((await testService.other.get('/'))?.entries).toHaveLength(1)
  })

  it('deleted by another client while it is written here: uploaded again', async () => {
    await testService.other.put('/a.txt', 'first')
    const { calls, drain } = await mount()
    await calls.readFile('/a.txt')
    const file = await calls.open('/a.txt', 'r+')
    await file.write('ours!', 0)
    await testService.other.delete('/a.txt')
    await file.close()
    await drain()
    expect(await held('/a.txt')).toBe('ours!')
  })

  it('deleted here while the service was away, saved anew by another client meanwhile: their version stays', async () => {
    await testService.other.put('/a.txt', 'first')
    const { calls, drain } = await mount(['--cache-ttl', '10m'])
    await calls.readFile('/a.txt')
    const { faults } = testService.service
    const clear = faults.inject({ kind: 'status', status: 503 }, { method: 'DELETE' })
    await calls.unlink('/a.txt')
    await waitUntil('the delete to have failed', () => faults.hits > 0)
    await waitUntil(
      'the delete to wait for its next try',
      async () => ((await drive?.unsent()) ?? [])[0]?.state === 'retrying',
      30_000,
    )
    clear()
    await testService.other.put('/a.txt', 'saved anew')
    await drain()
    expect(await held('/a.txt')).toBe('saved anew')
  })

  it('--close-wait 0: close does not wait, quick saves become one', async () => {
    const { calls, drain } = await mount(['--close-wait', '0'])
    await calls.readdir('')
    testService.service.clearCalls()
    for (const content of ['one', 'two', 'three']) await calls.writeFile('/a.txt', content)
    await drain()
    expect(await held('/a.txt')).toBe('three')
    expect(testService.service.calls.filter(({ method }) => method === 'PUT')).toHaveLength(1)
  })

  it('--close-wait 10s: close succeeds only when the service has it, or goes on without it', async () => {
    const { calls, unsent, drain } = await mount()
    await calls.readdir('')
    const { faults } = testService.service
    faults.inject({ kind: 'latency', ms: 2_000 }, { method: 'PUT', times: 1 })
    await calls.writeFile('/slow.txt', 'arrives before close returns')
    expect(await held('/slow.txt')).toBe('arrives before close returns')
    faults.inject({ kind: 'latency', ms: 12_000 }, { method: 'PUT', times: 1 })
    await calls.writeFile('/slower.txt', 'goes on in the background')
    expect(await held('/slower.txt')).toBeUndefined()
    expect(await unsent()).toHaveLength(1)
    await drain()
    expect(await held('/slower.txt')).toBe('goes on in the background')
  })

  it('--close-wait forever: close returns when the service has it', async () => {
    const { calls, unsent } = await mount(['--close-wait', 'forever'])
    await calls.readdir('')
    await testService.stop()
    let isClosed = false
    const saved = calls.writeFile('/a.txt', 'strict').then(() => (isClosed = true))
    await waitUntil('it to be journaled', async () => (await unsent()).length === 1)
    await waitUntil(
      'a first try to have failed',
      async () => ((await unsent())[0]?.attempts ?? 0) > 1,
      30_000,
    )
    expect(isClosed).toBe(false)
    await testService.start()
    await saved
    expect(await held('/a.txt')).toBe('strict')
  })

  it('fsync waits as close does', async () => {
    const { calls } = await mount(['--close-wait', 'forever'])
    const file = await calls.open('/a.txt', 'w')
    await file.write('synced', 0)
    await file.sync()
    expect(await held('/a.txt')).toBe('synced')
    await file.close()
  })

  it('wait ends when everything is sent, and says when it is not', async () => {
    const { calls, docmount, mountpoint } = await mount(['--close-wait', '0'])
    const { faults } = testService.service
    const clear = faults.inject({ kind: 'status', status: 503 }, { method: 'PUT' })
    await calls.writeFile('/a.txt', 'waited for')
    const early = await docmount(['wait', mountpoint, '--timeout', '1s'], { mayFail: true })
    expect(early.code).not.toBe(0)
    expect(early.stderr).toMatch(/not everything is sent yet/)
    clear()
    expect((await docmount(['wait', mountpoint, '--timeout', '60s'], { limitMs: 70_000 })).code).toBe(0)
    expect(await held('/a.txt')).toBe('waited for')
  })

  it('unmount with something unsent says what and where, and the next mount sends it', async () => {
    const { calls, docmount, mountpoint, hasEnded } = await mount(['--close-wait', '200ms'])
    await calls.readdir('')
    await testService.stop()
    await calls.writeFile('/a.txt', 'left behind')
    const ended = await docmount(['unmount', mountpoint, '--timeout', '2s'], {
      mayFail: true,
      limitMs: 40_000,
    })
    expect(ended.code).not.toBe(0)
    expect(ended.stderr).toMatch(/\/a\.txt/)
    expect(ended.stderr).toContain(join(temporary.path, 'state'))
    await waitUntil('the daemon to end', hasEnded)
    await testService.start()
    const next = await mount()
    await next.drain()
    expect(await held('/a.txt')).toBe('left behind')
  })

  it('killed right after close: the content is there', async () => {
    const content = patternedBytes(5_000_000, 'right after close')
    const before = await mount(['--close-wait', '0'])
    await before.calls.readdir('')
    await testService.stop()
    await before.calls.writeFile('/a.pdf', content)
    await before.kill()
    await testService.start()
    const { calls, drain } = await mount()
    expect((await calls.readFile('/a.pdf')).equals(content)).toBe(true)
    await drain()
    expect((await testService.other.bytes('/a.pdf')).equals(content)).toBe(true)
    expect((await testService.other.get('/'))?.entries).toHaveLength(1)
  })

  it.each([
    ['small', 5_000],
    ['large', 500_000],
  ])(
    'a power cut that takes back the end of a %s upload: the document is as it was saved',
    async (_, size) => {
      const content = patternedBytes(size, 'saved before the power cut')
      await using gate = await startGate(() => Number(new URL(testService.baseUrl).port))
      const state = join(temporary.path, 'cut-state')
      const saved = join(temporary.path, 'journal-before')
      const start = async (): Promise<CrashingDrive> =>
        (drive = await startCrashingDrive({
          folder: temporary.path,
          baseUrl: gate.baseUrl,
          apiKey: testService.apiKey,
          args: ['--state-dir', state, '--close-wait', '200ms'],
        }))
      const before = await start()
      await before.calls.readdir('')
      gate.decide = ({ method }) => (method === 'PUT' ? 'keep' : 'pass')
      await before.calls.writeFile('/a.pdf', content)
      await run('sh', ['-c', 'mkdir "$2" && cp "$1"/journal.db "$1"/journal.db-wal "$2"', 'sh', state, saved])
      gate.decide = () => 'pass'
      gate.release()
      await before.drain()
      await before.kill()
      // What was not synced yet is gone: the journal is as it was before the answer came. Files that were removed stay so.
      await run('sh', ['-c', 'rm "$1"/journal.db* && cp "$2"/* "$1"', 'sh', state, saved])
      const { calls, drain, status } = await start()
      expect((await calls.readFile('/a.pdf')).equals(content)).toBe(true)
      await drain()
      expect(await status()).toMatchObject({ conflicts: 0 })
      expect(await calls.readdir('')).toEqual(['a.pdf'])
      expect((await testService.other.bytes('/a.pdf')).equals(content)).toBe(true)
    },
  )

  it('a small document whose file lost its bytes in a power cut is whole', async () => {
    const state = join(temporary.path, 'cut-state')
    const args = ['--state-dir', state, '--close-wait', '0']
    const before = await mount(args)
    await before.calls.readdir('')
    await testService.stop()
    await before.calls.writeFile('/a.txt', 'in the journal')
    await before.kill()
    await run('sh', ['-c', 'for f in "$1"/spool/*; do : > "$f"; done', 'sh', state])
    await testService.start()
    const { calls, drain } = await mount(args)
    expect((await calls.readFile('/a.txt')).toString()).toBe('in the journal')
    await drain()
    expect(await held('/a.txt')).toBe('in the journal')
  })

  it('killed in the middle of an upload of 100 MB: it is sent again, whole', async () => {
    const content = patternedBytes(100_000_000, '100 MB')
    const before = await mount(['--close-wait', '0'])
    await before.calls.writeFile('/large.pdf', content)
    await waitUntil('the upload to be under way', async () => (await before.unsent())[0]?.state === 'sending')
    await before.kill()
    expect(await testService.other.get('/large.pdf')).toBeUndefined()
    const { calls, drain } = await mount()
    expect((await calls.stat('/large.pdf')).size).toBe(content.length)
    await drain(60_000)
    expect((await testService.other.bytes('/large.pdf')).equals(content)).toBe(true)
    expect((await calls.readFile('/large.pdf')).equals(content)).toBe(true)
  })

  it('mounted while the service is down: the last listing is shown, and status says that it is stale', async () => {
    await testService.other.put('/in/a.txt', 'a')
    const before = await mount()
    expect(await before.calls.readdir('/in')).toEqual(['a.txt'])
    expect((await before.calls.readFile('/in/a.txt')).toString()).toBe('a')
    await before.unmount()
    await testService.stop()
    const { calls, status, docmount, mountpoint, drain } = await mount()
    expect(await calls.readdir('')).toEqual(['in'])
    expect(await calls.readdir('/in')).toEqual(['a.txt'])
    expect(await status()).toMatchObject({ stale: true, service: 'unreachable' })
    expect((await docmount(['status', mountpoint])).stdout).toMatch(/listing from an earlier run/)
    await calls.writeFile('/in/b.txt', 'written meanwhile')
    await testService.start()
    await waitUntil('the listing to be fresh', async () => !(await status()).stale, 60_000)
    await drain()
    expect(await held('/in/b.txt')).toBe('written meanwhile')
  })
})
