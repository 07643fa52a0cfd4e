// Rows of the fault table in docs/reliability.md: state files that are removed, replaced or cut while a drive runs.

import { readdirSync } from 'node:fs'
import { cp, mkdir, rename, rm, truncate, writeFile } from 'node:fs/promises'
import { join } from 'node:path'

import { describe, expect, it } from 'vitest'

import { patternedBytes } from '../support/bytes.ts'
import type { CrashingDrive } from '../support/crashing-drive.ts'
import { whyNoFuse } from '../support/fuse.ts'
import { run } from '../support/run.ts'
import { errorOf, useFaultDrive } from './fault-drive.ts'

const small = 'small enough for the journal'
const large = patternedBytes(300_000, 'a file of the spool')

describe.skipIf(whyNoFuse() !== undefined)('under a running drive', () => {
  const fault = useFaultDrive()
  const state = (name = ''): string => join(fault.folder, 'state-folder', name)
  const earlier = (name: string): string => join(fault.folder, name)
  const files = (): string[] => readdirSync(state()).filter((name) => name.startsWith('journal.db'))
  const mount = (): Promise<CrashingDrive> => fault.mount(['--state-dir', state(), '--close-wait', '200ms'])

  /** Changes of every kind, none of them sent. */
  async function changed(): Promise<CrashingDrive> {
    await fault.service.other.put('/deleted.txt', 'will be deleted')
    await fault.service.other.put('/renamed.txt', 'will be renamed')
    const drive = await mount()
    await drive.calls.readdir('')
    await fault.service.stop()
    for (const name of files()) await cp(state(name), earlier(name))
    await drive.calls.writeFile('/small.txt', small)
    await drive.calls.writeFile('/large.pdf', large)
    await drive.calls.mkdir('/folder')
    await drive.calls.unlink('/deleted.txt')
    await drive.calls.rename('/renamed.txt', '/folder/renamed.txt')
    return drive
  }

  /** Killed, and mounted again: nothing of it was lost. */
  async function arrives(drive: CrashingDrive, more: Readonly<Record<string, string>> = {}): Promise<void> {
    await drive.kill()
    const again = await mount()
    const paths = [
      '/deleted.txt',
      '/folder',
      '/large.pdf',
      '/renamed.txt',
      '/small.txt',
      ...Object.keys(more),
    ]
    const unsent = await again.unsent()
    expect(new Set(unsent.map(({ path }) => path))).toEqual(
      new Set(
        paths.filter((path) => !['/folder', '/renamed.txt'].includes(path)).concat('/folder/renamed.txt'),
      ),
    )
    await fault.service.start()
    await again.drain()
    await arrived()
    for (const [path, content] of Object.entries(more)) expect(await fault.held(path)).toBe(content)
    await again.unmount()
  }

  async function arrived(): Promise<void> {
    expect(await fault.held('/small.txt')).toBe(small)
    expect((await fault.service.other.bytes('/large.pdf')).equals(large)).toBe(true)
    expect(await fault.held('/deleted.txt')).toBeUndefined()
    expect(await fault.held('/renamed.txt')).toBeUndefined()
    expect(await fault.held('/folder/renamed.txt')).toBe('will be renamed')
  }

  /** Each file at once: the drive may notice the first of them, and make the others anew, at any time. */
  async function replaced(by: (name: string) => string): Promise<void> {
    const names = files()
    for (const name of names) await cp(by(name), state(`copy of ${name}`))
    for (const name of names) await rename(state(`copy of ${name}`), state(name))
  }

  const damages: Readonly<Record<string, () => Promise<unknown>>> = {
    'deleted, with its log': () => Promise.all(files().map((name) => rm(state(name)))),
    deleted: () => rm(state('journal.db')),
    'without its log': () => rm(state('journal.db-wal')),
    'without its shared memory': () => rm(state('journal.db-shm')),
    'moved away': () => rename(state('journal.db'), state('mine.db')),
    'replaced by a copy of it': () => replaced(state),
    emptied: () => truncate(state('journal.db')),
    'its log emptied': () => truncate(state('journal.db-wal')),
    'written over by an earlier copy': () => replaced(earlier),
    async 'replaced by something else'() {
      await rm(state('journal.db'))
      await writeFile(state('journal.db'), patternedBytes(50_000, 'no journal'))
    },
  }

  for (const [what, damage] of Object.entries(damages)) {
    it(`the journal, ${what}, is made anew before the next save returns`, async () => {
      const drive = await changed()
      await damage()
      await drive.calls.writeFile('/after.txt', 'saved after that')
      await expect.poll(() => drive.log()).toContain('the journal')
      await arrives(drive, { '/after.txt': 'saved after that' })
    })
  }

  it('the journal is made anew without anybody asking', async () => {
    const drive = await changed()
    await damages['deleted, with its log']?.()
    await expect.poll(() => files().includes('journal.db')).toBe(true)
    await arrives(drive)
  })

  it('saved listings lost while the service is away: it mounts, and shows what is unsent', async () => {
    const drive = await changed()
    await drive.kill()
    await rm(state('listings.db'), { force: true })
    const again = await mount()
    expect((await again.calls.readFile('/small.txt')).toString()).toBe(small)
    expect(await again.calls.readdir('/folder')).toEqual(['renamed.txt'])
    // The known names, and an error because they are not all.
    const listed = await run('timeout', ['200', 'ls', again.mountpoint], { mayFail: true })
    expect(listed).toMatchObject({ code: 2, stdout: 'folder\nlarge.pdf\nsmall.txt\n' })
    expect(listed.stderr).toContain('timed out')
    expect(await errorOf(again.calls.readFile('/elsewhere.txt'))).toBe('ETIMEDOUT')
    await arrives(again)
  })

  it.skipIf(process.getuid?.() !== 0)(
    'a state folder that is made immutable ends nothing: saving is EPERM, and all goes on when it is not any more',
    async () => {
      const drive = await changed()
      const open = await drive.calls.open('/open.pdf', 'w')
      await open.write(large, 0)
      await run('chattr', ['-R', '+i', state()])
      try {
        expect(await errorOf(drive.calls.writeFile('/new.txt', 'refused'))).toBe('EPERM')
        expect(await errorOf(drive.calls.rename('/small.txt', '/renamed.txt'))).toBe('EPERM')
        expect(await errorOf(drive.calls.mkdir('/other'))).toBe('EPERM')
        expect(await errorOf(drive.calls.unlink('/small.txt'))).toBe('EPERM')
        expect(await errorOf(open.close())).toBe('EPERM')
        expect((await drive.calls.readFile('/small.txt')).toString()).toBe(small)
        await fault.service.start()
        expect((await drive.docmount(['status', drive.mountpoint])).stdout).toMatch(/open\.pdf .*not safe/)
      } finally {
        await run('chattr', ['-R', '-i', state()])
      }
      await drive.docmount(['retry', drive.mountpoint])
      await drive.drain()
      expect((await fault.service.other.bytes('/open.pdf')).equals(large)).toBe(true)
      await arrived()
      await drive.unmount()
    },
  )

  it('the spool, deleted, is made anew by the next save', async () => {
    const drive = await mount()
    await drive.calls.writeFile('/before.txt', 'before')
    await rm(state('spool'), { recursive: true })
    await drive.calls.writeFile('/small.txt', small)
    await drive.calls.writeFile('/large.pdf', large)
    await drive.drain()
    expect((await fault.service.other.bytes('/large.pdf')).equals(large)).toBe(true)
    await drive.unmount()
  })

  it('what is open is written into the new spool', async () => {
    const drive = await mount()
    await fault.service.stop()
    const file = await drive.calls.open('/open.pdf', 'w')
    await file.write(large, 0)
    await rm(state('spool'), { recursive: true })
    await file.close()
    await drive.kill()
    const again = await mount()
    expect(await again.unsent()).toMatchObject([{ path: '/open.pdf' }])
    await fault.service.start()
    await again.drain()
    expect((await fault.service.other.bytes('/open.pdf')).equals(large)).toBe(true)
    await again.unmount()
  })

  it('what was in the spool, unsent and closed, is named as not safe', async () => {
    const drive = await changed()
    await rm(state('spool'), { recursive: true })
    await mkdir(state('spool'), { recursive: true })
    await expect
      .poll(async () => (await drive.unsent('/large.pdf')).map(({ state }) => state))
      .toEqual(['refused'])
    await fault.service.start()
    await expect.poll(() => fault.held('/small.txt')).toBe(small)
    const { stdout } = await drive.docmount(['status', drive.mountpoint])
    expect(stdout).toContain('unsent content was taken away from the state folder')
    expect(stdout).toMatch(/large\.pdf {2}upload {2}refused .*it is gone/)
  })
})
