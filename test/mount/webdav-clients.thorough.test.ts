// Real clients at the WebDAV door: davfs2, rclone, and GNOME's gvfs.

import { existsSync } from 'node:fs'
import { mkdir, readFile, readdir, rename, rm, rmdir, stat, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'

import { mountDavfs2, whyNoDavfs2 } from '../support/davfs2.ts'
import { patternedBytes } from '../support/bytes.ts'
import { isInstalled, run, type Ran } from '../support/run.ts'
import { startTestService, type TestService } from '../support/service.ts'
import { makeTemporaryFolder, type TemporaryFolder } from '../support/temporary-folder.ts'
import { startWebdavDrive, type WebdavDrive } from '../support/webdav-drive.ts'

let temporary: TemporaryFolder
let testService: TestService
let drive: WebdavDrive

beforeEach(async () => {
  temporary = await makeTemporaryFolder()
  testService = await startTestService()
  const { baseUrl, apiKey } = testService
  drive = await startWebdavDrive({ folder: temporary.path, baseUrl, apiKey })
})
afterEach(async () => {
  await drive.remove()
  await testService.close()
  await temporary.remove()
})

const stored = async (path: string): Promise<string> => (await testService.other.bytes(path)).toString()
const sent = (): Promise<Ran> => drive.docmount(['wait', drive.url])

describe('davfs2', () => {
  const reason = whyNoDavfs2()
  if (reason !== undefined) {
    it.skip(`not run: ${reason}`)
    return
  }

  it('makes, saves, renames and deletes documents and folders', async () => {
    await testService.other.put('/given/read.txt', 'given')
    await drive.docmount(['refresh', drive.url])
    const davfs2 = await mountDavfs2(drive, temporary.path)
    try {
      const at = (path: string): string => join(davfs2.mountpoint, path)
      expect(await readFile(at('given/read.txt'), 'utf8')).toBe('given')
      await mkdir(at('made'))
      const large = patternedBytes(3_000_000, 'davfs2')
      await writeFile(at('made/large.pdf'), large)
      await writeFile(at('made/first.txt'), 'first')
      expect(await readFile(at('made/first.txt'), 'utf8')).toBe('first')
      await writeFile(at('made/first.txt'), 'second')
      await writeFile(at('given/read.txt'), 'saved over')
      await expect.poll(() => stored('/made/first.txt').catch(() => '')).toBe('second')
      await expect.poll(() => stored('/given/read.txt').catch(() => '')).toBe('saved over')
      await expect.poll(() => testService.other.get('/made/large.pdf')).toBeDefined()
      expect((await testService.other.bytes('/made/large.pdf')).equals(large)).toBe(true)
      await rename(at('made/first.txt'), at('given/moved.txt'))
      await rename(at('given/moved.txt'), at('given/read.txt'))
      expect((await readdir(at('given'))).filter((name) => name !== 'lost+found')).toEqual(['read.txt'])
      await rm(at('made/large.pdf'))
      await rmdir(at('made'))
      await sent()
      expect(await stored('/given/read.txt')).toBe('second')
      expect(await testService.other.get('/made')).toBeUndefined()
    } finally {
      await davfs2.unmount()
    }
  })

  it('has everything arrive that was written before it is unmounted', async () => {
    const davfs2 = await mountDavfs2(drive, temporary.path)
    for (let count = 0; count < 20; count++)
      await writeFile(join(davfs2.mountpoint, `${count}.txt`), `content ${count}`)
    await davfs2.unmount()
    await expect.poll(async () => (await testService.other.documents('/'))?.size).toBe(20)
    await sent()
    expect(await stored('/19.txt')).toBe('content 19')
  })
})

describe('rclone', () => {
  if (!isInstalled('rclone')) {
    it.skip('not run: rclone is not installed (apt-get install rclone)')
    return
  }

  async function rclone(...args: readonly string[]): Promise<Ran> {
    const { stdout } = await run('rclone', ['obscure', drive.password])
    const env = {
      ...process.env,
      RCLONE_CONFIG: join(temporary.path, 'no-config'),
      RCLONE_CONFIG_DRIVE_TYPE: 'webdav',
      RCLONE_CONFIG_DRIVE_URL: `${drive.url}/`,
      RCLONE_CONFIG_DRIVE_VENDOR: 'owncloud',
      RCLONE_CONFIG_DRIVE_USER: drive.user,
      RCLONE_CONFIG_DRIVE_PASS: stdout.trim(),
    }
    return run('rclone', [...args, '--verbose', '--retries', '1'], { env })
  }

  it('syncs a tree both ways, and the second time nothing', async () => {
    const here = join(temporary.path, 'here')
    const names = ['a.txt', 'b.pdf', 'sub/c.txt', 'sub/deep/d & "e" ü.txt', 'sub/empty.txt']
    for (const [index, name] of names.entries()) {
      await mkdir(join(here, name, '..'), { recursive: true })
      await writeFile(
        join(here, name),
        name.includes('empty') ? '' : patternedBytes(200_000 * index + 10, name),
      )
    }
    await rclone('sync', here, 'drive:tree')
    await sent()
    const documents = await testService.other.documents('/tree')
    expect([...(documents?.keys() ?? [])].toSorted()).toEqual(names.toSorted())
    await rclone('check', '--download', here, 'drive:tree')
    expect((await rclone('sync', here, 'drive:tree')).stderr).toContain('There was nothing to transfer')

    const back = join(temporary.path, 'back')
    await rclone('sync', 'drive:tree', back)
    for (const name of names)
      expect((await readFile(join(back, name))).equals(await readFile(join(here, name)))).toBe(true)
    const seconds = async (folder: string): Promise<number> =>
      Math.floor((await stat(join(folder, 'b.pdf'))).mtimeMs / 1000)
    expect(await seconds(back)).toBe(await seconds(here))

    await rm(join(here, 'a.txt'))
    await writeFile(join(here, 'b.pdf'), '%PDF new')
    await rclone('sync', here, 'drive:tree')
    await sent()
    expect(await stored('/tree/b.pdf')).toBe('%PDF new')
    expect(await testService.other.get('/tree/a.txt')).toBeUndefined()
  })
})

describe('GNOME', () => {
  const hasGvfs = ['/usr/libexec/gvfsd-dav', '/usr/lib/gvfs/gvfsd-dav'].some((file) => existsSync(file))
  if (!hasGvfs || !isInstalled('gio') || !isInstalled('dbus-run-session')) {
    it.skip('not run: gvfs is not installed (apt-get install gvfs-backends dbus libglib2.0-bin)')
    return
  }

  it('connects with the password, copies, moves, saves, hears of a refused type, removes', async () => {
    const line = `
      drive=dav://$1
      echo "$2" | gio mount "$drive/" >/dev/null
      echo 'from GNOME' >"$3/g.txt"
      gio copy "$3/g.txt" "$drive/g.txt"
      gio mkdir "$drive/folder"
      gio move "$drive/g.txt" "$drive/folder/h.txt"
      gio copy "$drive/folder/h.txt" "$drive/folder/i.txt"
      echo saved | gio save "$drive/folder/i.txt"
      gio cat "$drive/folder/h.txt" "$drive/folder/i.txt"
      if gio save "$drive/folder/p.exe" <"$3/g.txt"; then echo taken; fi
      gio remove "$drive/folder/h.txt"
      gio list "$drive/folder"
      gio mount -u "$drive/"`
    const place = `${drive.user}@${new URL(drive.url).host}`
    const args = ['bash', '-euc', line, 'bash', place, drive.password, temporary.path]
    // Its own mount of everything it reaches would outlive the test.
    const env = {
      ...process.env,
      HOME: temporary.path,
      XDG_RUNTIME_DIR: join(temporary.path, 'run'),
      GVFS_DISABLE_FUSE: '1',
    }
    const { stdout, stderr } = await run('dbus-run-session', ['--', ...args], { env })
    expect(stdout).toBe('from GNOME\nsaved\ni.txt\n')
    expect(stderr).toContain('Unsupported Media Type')
    await sent()
    expect([...((await testService.other.documents('/folder')) ?? [])].map(String)).toEqual(['i.txt,saved\n'])
  })
})
