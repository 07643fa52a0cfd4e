// A drive behind two doors, the kernel's mount and WebDAV: what WebDAV has answered, a program on the mount sees. The kernel
// keeps names, missing names, attributes and pages for half a minute, and is to have heard of the change before the client
// hears its answer. Each test first lets the kernel keep what was, while other programs save beside it.

import { spawn, type ChildProcess } from 'node:child_process'
import { once } from 'node:events'
import { mkdir, open, readFile, readdir, rename, stat, utimes, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'

import { whyNoFuse } from '../support/fuse.ts'
import { isThorough, leaveOut, mountDrivers } from '../support/thorough.ts'
import { startTestService, type TestService } from '../support/service.ts'
import { makeTemporaryFolder, type TemporaryFolder } from '../support/temporary-folder.ts'
import { startWebdavDrive, type WebdavDrive } from '../support/webdav-drive.ts'

/** Saves in the drive's root until it is killed: notifications about names there wait for its calls. */
const saving =
  'n=0; while [ -d "$1" ]; do n=$((n+1)); echo $n > "$1/other-$2-$n.txt"; ls "$1" >/dev/null; rm "$1/other-$2-$n.txt"; sleep 0.05; done'

leaveOut('most of the rounds of changes through both doors, and a mount through fuse-native')

describe.skipIf(whyNoFuse() !== undefined).each(mountDrivers)(
  'docmount mount --driver %s --webdav',
  (driver) => {
    let temporary: TemporaryFolder
    let testService: TestService
    let drive: WebdavDrive
    let programs: ChildProcess[] = []

    beforeEach(async () => {
      programs = []
      temporary = await makeTemporaryFolder()
      testService = await startTestService()
      const { baseUrl, apiKey } = testService
      drive = await startWebdavDrive({ folder: temporary.path, baseUrl, apiKey, isMounted: true, driver })
      programs = ['a', 'b', 'c'].map((name) =>
        spawn('sh', ['-c', saving, 'sh', drive.mountpoint, name], {
          cwd: '/',
          stdio: 'ignore',
          detached: true,
        }),
      )
    })
    afterEach(async () => {
      const ended = programs.map((program) => once(program, 'exit'))
      for (const { pid } of programs) if (pid !== undefined) process.kill(-pid, 'SIGKILL')
      await Promise.all(ended)
      await drive.remove()
      await testService.close()
      await temporary.remove()
    })

    const at = (path: string): string => join(drive.mountpoint, path)
    const ask = async (method: string, path: string, how: Parameters<WebdavDrive['ask']>[2] = {}) => {
      const answer = await drive.ask(method, path, how)
      expect(answer.status).toBeLessThan(300)
      return answer
    }
    /** Fuse-native answers a second later. */
    const rounds = (many: number): Iterable<number> =>
      Array(driver === 'fuse-native' ? 2 : isThorough ? many : Math.ceil(many / 40)).keys()
    const bytes = (path: string): Promise<string> => readFile(at(path), 'utf8')
    const code = (look: Promise<unknown>): Promise<unknown> =>
      look.then(
        () => 'there',
        (error: NodeJS.ErrnoException) => error.code,
      )

    it('MOVE: what a program then saves under the old name never lands under the new one', async () => {
      const landed: string[] = []
      for (const round of rounds(200)) {
        const [from, to] = [`p-${round}.txt`, `q-${round}.txt`]
        await ask('PUT', `/${from}`, { body: 'moved' })
        expect(await bytes(from)).toBe('moved')
        await ask('MOVE', `/${from}`, { headers: { destination: `/${to}` } })
        await writeFile(at(from), 'saved after the move')
        if ((await bytes(to)) !== 'moved') landed.push(to)
        if ((await bytes(from)) !== 'saved after the move') landed.push(from)
      }
      expect(landed).toEqual([])
    })

    it('MOVE over a document that a program renames before the service has answered: what is then saved there is there', async () => {
      await ask('PUT', '/over.txt', { body: 'older' })
      await ask('PUT', '/new.txt', { body: 'moved' })
      // Their `ls` would tell the kernel.
      for (const { pid } of programs) if (pid !== undefined) process.kill(-pid, 'SIGSTOP')
      // While a program has it open, the older one can be opened once its name is gone.
      const reader = await open(at('over.txt'))
      expect((await reader.read({ position: 0 })).bytesRead).toBe(5)
      const { faults } = testService.service
      faults.inject({ kind: 'latency', ms: 2_000 }, { method: 'PUT', path: '/over.txt', times: 1 })
      const moved = ask('MOVE', '/new.txt', { headers: { destination: '/over.txt' } })
      await expect.poll(() => faults.hits).toBeGreaterThan(0)
      await rename(at('over.txt'), at('renamed.txt'))
      await writeFile(at('renamed.txt'), 'saved')
      await moved
      expect((await drive.ask('GET', '/renamed.txt')).text).toBe('saved')
      expect(await bytes('renamed.txt')).toBe('saved')
      await reader.close()
    })

    it('MOVE of a folder: likewise for what is in it', async () => {
      for (const round of rounds(50)) {
        const [from, to] = [`from-${round}`, `to-${round}`]
        await ask('MKCOL', `/${from}`)
        await ask('PUT', `/${from}/a.txt`, { body: 'moved' })
        expect(await bytes(`${from}/a.txt`)).toBe('moved')
        await ask('MOVE', `/${from}`, { headers: { destination: `/${to}` } })
        expect(await code(writeFile(at(`${from}/a.txt`), 'nowhere'))).toBe('ENOENT')
        expect(await bytes(`${to}/a.txt`)).toBe('moved')
      }
    })

    it('PUT: the new bytes, and the new size, at once', async () => {
      await ask('PUT', '/a.txt', { body: 'round -1' })
      for (const round of rounds(100)) {
        expect(await bytes('a.txt')).toBe(`round ${round - 1}`.padEnd(Math.max(0, round - 1)))
        const now = `round ${round}`.padEnd(round)
        await ask('PUT', '/a.txt', { body: now })
        expect(await bytes('a.txt')).toBe(now)
        expect((await stat(at('a.txt'))).size).toBe(now.length)
      }
    })

    it('PUT: a name that was missing a moment ago, and is in its folder’s listing', async () => {
      for (const round of rounds(100)) {
        const name = `new-${round}.txt`
        expect(await code(stat(at(name)))).toBe('ENOENT')
        expect(await readdir(drive.mountpoint)).not.toContain(name)
        await ask('PUT', `/${name}`, { body: 'new' })
        expect(await bytes(name)).toBe('new')
        expect(await readdir(drive.mountpoint)).toContain(name)
      }
    })

    it('PUT of nothing over a document that is open: its reader sees it empty', async () => {
      for (const round of rounds(50)) {
        const name = `emptied-${round}.txt`
        await ask('PUT', `/${name}`, { body: 'full' })
        const reader = await open(at(name))
        try {
          expect((await reader.read({ position: 0 })).bytesRead).toBe(4)
          await ask('PUT', `/${name}`)
          expect((await reader.stat()).size).toBe(0)
          expect((await reader.read({ position: 0 })).bytesRead).toBe(0)
        } finally {
          await reader.close()
        }
      }
    })

    it('COPY, DELETE, MKCOL', async () => {
      await ask('PUT', '/source.txt', { body: 'copied' })
      for (const round of rounds(50)) {
        const [copy, folder] = [`copy-${round}.txt`, `folder-${round}`]
        expect([await code(stat(at(copy))), await code(stat(at(folder)))]).toEqual(['ENOENT', 'ENOENT'])
        await ask('COPY', '/source.txt', { headers: { destination: `/${copy}` } })
        expect(await bytes(copy)).toBe('copied')
        await ask('MKCOL', `/${folder}`)
        expect((await stat(at(folder))).isDirectory()).toBe(true)
        await mkdir(at(`${folder}/inner`))
        await writeFile(at(`${folder}/inner/a.txt`), 'a')
        await ask('DELETE', `/${copy}`)
        await ask('DELETE', `/${folder}`)
        for (const gone of [copy, folder, `${folder}/inner/a.txt`])
          expect([gone, await code(stat(at(gone)))]).toEqual([gone, 'ENOENT'])
        await writeFile(at(copy), 'a program’s own')
        expect(await bytes(copy)).toBe('a program’s own')
      }
    })

    it('PROPPATCH of a time, and DELETE of what a program has open: its attributes', async () => {
      for (const round of rounds(50)) {
        const name = `timed-${round}.txt`
        await ask('PUT', `/${name}`, { body: 'timed' })
        await utimes(at(name), 1, 1)
        expect((await stat(at(name))).mtimeMs).toBe(1000)
        const body = `<propertyupdate xmlns="DAV:" xmlns:Z="urn:schemas-microsoft-com:"><set><prop>
        <Z:Win32LastModifiedTime>Fri, 14 Jul 2017 02:40:00 GMT</Z:Win32LastModifiedTime></prop></set></propertyupdate>`
        await ask('PROPPATCH', `/${name}`, { body })
        expect((await stat(at(name))).mtimeMs).toBe(1_500_000_000_000)
        // Libfuse 2 asks by name for the attributes of what is open.
        if (driver === 'fuse-native') continue
        const reader = await open(at(name))
        try {
          expect((await reader.stat()).nlink).toBe(1)
          await ask('DELETE', `/${name}`)
          expect((await reader.stat()).nlink).toBe(0)
        } finally {
          await reader.close()
        }
      }
    })

    it('answers a change in a folder where a program’s call waits for a service that is slow', async () => {
      await ask('MKCOL', '/slow')
      await ask('PUT', '/slow/a.txt', { body: 'a' })
      await ask('PUT', '/b.txt', { body: 'b' })
      testService.service.faults.inject({ kind: 'latency', ms: 1000 }, { times: 5 })
      const looks = ['x', 'y', 'z'].map((name) => code(stat(at(`slow/${name}.txt`))))
      await ask('MOVE', '/slow/a.txt', { headers: { destination: '/slow/c.txt' } })
      await ask('MOVE', '/b.txt', { headers: { destination: '/c.txt' } })
      expect(await Promise.all(looks)).toEqual(['ENOENT', 'ENOENT', 'ENOENT'])
      expect([await code(stat(at('slow/a.txt'))), await bytes('slow/c.txt')]).toEqual(['ENOENT', 'a'])
    })
  },
)
