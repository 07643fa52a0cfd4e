// How mounts begin and end: refusals before, in order, by others, by force, by a crash.

import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdir, mkdtemp, open, readdir, readFile, rm, stat, symlink, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, describe, expect, test } from 'vitest'
import { whyNoFuse } from '../support/fuse.ts'
import { mountForOthers } from '../support/passed-mount.ts'
import { mountMemory, within, type MemoryMount, type MemoryMountOptions } from '../support/memory-mount.ts'
import { bash, run } from '../support/run.ts'
import { waitUntil } from '../support/wait-until.ts'

const why = whyNoFuse()
const isRoot = process.getuid?.() === 0

describe.skipIf(why !== undefined)(`a mount${why === undefined ? '' : ` (${why})`}`, () => {
  let folder: string
  let drives: MemoryMount[]

  beforeEach(async () => {
    folder = await mkdtemp(join(tmpdir(), 'docmount-unmount-'))
    drives = []
  })

  afterEach(async () => {
    for (const drive of drives) await drive.remove()
    await rm(folder, { recursive: true })
  })

  async function mount(options: MemoryMountOptions = {}): Promise<MemoryMount> {
    const drive = await mountMemory(options)
    drives.push(drive)
    return drive
  }

  describe('is refused in one line that says what to do', () => {
    const refused = async (mountpoint: string): Promise<{ code: string; message: string }> => {
      const error = await mount({ mountpoint }).then(
        () => ({ code: 'mounted', message: '' }),
        (reason: { code: string; message: string }) => reason,
      )
      return { code: error.code, message: error.message }
    }

    test('where the folder is missing', async () => {
      expect(await refused(join(folder, 'no'))).toEqual({
        code: 'ENOENT',
        message: `the mountpoint ${folder}/no does not exist; run: mkdir -p ${folder}/no`,
      })
    })

    test('where there is a file', async () => {
      await writeFile(join(folder, 'file'), '')
      expect(await refused(join(folder, 'file'))).toEqual({
        code: 'ENOTDIR',
        message: `the mountpoint ${folder}/file is not a folder`,
      })
    })

    test('where the folder is not empty', async () => {
      await writeFile(join(folder, 'file'), '')
      expect(await refused(folder)).toEqual({
        code: 'ENOTEMPTY',
        message: expect.stringMatching(
          `^the mountpoint ${folder} is not empty \\(it holds .*Move them away, mount`,
        ) as string,
      })
    })

    test('where something is mounted, also when it is reached through a link', async () => {
      const drive = await mount()
      await symlink(drive.path, join(folder, 'link'))
      expect(await refused(join(folder, 'link'))).toEqual({
        code: 'EBUSY',
        message: `the mountpoint ${drive.path} is busy: another docmount serves it; unmount it or choose another`,
      })
      await drive.counts()
    })
  })

  test('shows its source and type, whatever characters the source has', async () => {
    const drive = await mount({ source: 'docmount:a,b\\c d' })
    const { stdout } = await run('findmnt', ['-no', 'SOURCE,FSTYPE', drive.path])
    expect(stdout.trim()).toBe('docmount:a,b\\c d fuse.docmount')
  })

  test('appears at a folder of any name', async () => {
    const mountpoint = join(folder, ' a b\t"c"\\ä😀 -- ,x')
    await mkdir(mountpoint)
    const drive = await mount({ mountpoint })
    await writeFile(drive.at('a'), 'x')
    await drive.unmount()
    expect(await within(10_000, 'the end of the mount', drive.closed)).toBe('unmounted')
    expect(await readdir(mountpoint)).toEqual([])
  })

  test('that is read-only refuses changes with EROFS and asks nobody', async () => {
    const drive = await mount({ readOnly: true })
    await drive.ask({ kind: 'put', path: '/a', text: 'x' })
    await expect(writeFile(drive.at('a'), 'y')).rejects.toThrow('EROFS')
    await expect(mkdir(drive.at('b'))).rejects.toThrow('EROFS')
    expect(await readFile(drive.at('a'), 'utf8')).toBe('x')
    expect((await drive.counts()).calls.mkdir ?? 0).toBe(0)
  })

  test('ends with unmount, and the process that served it can end by itself', async () => {
    const drive = await mount()
    await drive.unmount()
    expect(await drive.closed).toBe('unmounted')
    expect(await drive.isMounted()).toBe(false)
    drive.process.disconnect()
    await within(10_000, 'the end of the process', drive.ended)
  })

  test('ends when somebody else unmounts it', async () => {
    const drive = await mount()
    await run(isRoot ? 'umount' : 'fusermount3', isRoot ? [drive.path] : ['-u', drive.path])
    expect(await within(10_000, 'the end of the mount', drive.closed)).toBe('unmounted')
  })

  test('that is in use is not unmounted: EBUSY; afterwards it is', async () => {
    const drive = await mount()
    await writeFile(drive.at('a'), 'x')
    const file = await open(drive.at('a'))
    await expect(drive.ask({ kind: 'unmount', isLazy: false })).rejects.toThrow(
      expect.objectContaining({ code: 'EBUSY' }),
    )
    await file.close()
    await drive.unmount()
    expect(await drive.closed).toBe('unmounted')
  })

  test('that is detached serves those who use it until the last one leaves', async () => {
    const drive = await mount()
    await writeFile(drive.at('a'), 'still served')
    const file = await open(drive.at('a'))
    await drive.ask({ kind: 'unmount', isLazy: true })
    expect(await drive.isMounted()).toBe(false)
    expect(await file.readFile('utf8')).toBe('still served')
    await file.close()
    expect(await within(10_000, 'the end of the mount', drive.closed)).toBe('unmounted')
  })

  test('is detached by its watchdog when the process is killed', async () => {
    const drive = await mount()
    const user = await open(drive.path)
    drive.process.kill('SIGKILL')
    await waitUntil('unmounted', async () => !(await drive.isMounted()))
    await user.close()
    expect((await stat(drive.path)).isDirectory()).toBe(true)
  })

  test('is detached by its watchdog after process.exit', async () => {
    const drive = await mount()
    void drive.ask({ kind: 'exit' }).catch(() => {})
    await within(10_000, 'the end of the process', drive.ended)
    await waitUntil('unmounted', async () => !(await drive.isMounted()))
  })

  test('leaves no watchdog behind', async () => {
    const drive = await mount()
    expect(await watchdogs(drive.path)).toHaveLength(1)
    await drive.unmount()
    await waitUntil('no watchdog', async () => (await watchdogs(drive.path)).length === 0)
  })

  test('whose process and watchdog were killed is dead, and the next mount there takes it away', async () => {
    const drive = await mount()
    // Stopped first: it would start another watchdog.
    drive.process.kill('SIGSTOP')
    for (const pid of await watchdogs(drive.path)) process.kill(pid, 'SIGKILL')
    drive.process.kill('SIGKILL')
    await drive.ended
    await expect(stat(drive.path)).rejects.toThrow('ENOTCONN')
    const next = await mount({ mountpoint: drive.path })
    await writeFile(next.at('a'), 'alive')
    const { stdout } = await bash('grep -c " $1 " /proc/self/mountinfo', [drive.path])
    expect(stdout.trim()).toBe('1')
  })

  test('whose process was killed leaves the next mount there alone, however late its watchdog comes', async () => {
    const drive = await mount()
    const late = await watchdogs(drive.path)
    expect(late).toHaveLength(1)
    for (const pid of late) process.kill(pid, 'SIGSTOP')
    drive.process.kill('SIGKILL')
    await drive.ended
    const next = await mount({ mountpoint: drive.path })
    await writeFile(next.at('a'), 'alive')
    for (const pid of late) if (isAlive(pid)) process.kill(pid, 'SIGCONT')
    await waitUntil('the end of the late one', () => !late.some(isAlive))
    expect(await readFile(next.at('a'), 'utf8')).toBe('alive')
    expect(await watchdogs(drive.path)).toHaveLength(1)
    await next.unmount()
    expect(await within(10_000, 'the end of the mount', next.closed)).toBe('unmounted')
  })

  describe.skipIf(!isRoot)('made by somebody else, who passed its descriptor,', () => {
    async function mountPassed(options: MemoryMountOptions = {}): Promise<MemoryMount> {
      const passed = await mountForOthers(folder)
      try {
        return await mount({ ...options, mountpoint: folder, fd: passed.fd })
      } finally {
        passed.close()
      }
    }

    test('is served through it, and ends when he unmounts it', async () => {
      const drive = await mountPassed()
      await writeFile(drive.at('a'), 'passed')
      expect(await readFile(drive.at('a'), 'utf8')).toBe('passed')
      await run('umount', [folder])
      expect(await within(10_000, 'the end of the mount', drive.closed)).toBe('unmounted')
    })

    test('is unmounted by the driver, and refuses while it is in use', async () => {
      const drive = await mountPassed()
      await writeFile(drive.at('a'), 'passed')
      const file = await open(drive.at('a'))
      await expect(drive.ask({ kind: 'unmount', isLazy: false })).rejects.toThrow(
        expect.objectContaining({
          code: 'EBUSY',
          message: `${folder} is in use: close the programs and shells that are in it, then unmount again`,
        }),
      )
      await file.close()
      await drive.unmount()
      expect(await within(10_000, 'the end of the mount', drive.closed)).toBe('unmounted')
      expect(await drive.isMounted()).toBe(false)
      drive.process.disconnect()
      await within(10_000, 'the end of the process', drive.ended)
    })

    test('is detached by the driver and serves its last user', async () => {
      const drive = await mountPassed()
      await writeFile(drive.at('a'), 'still served')
      const file = await open(drive.at('a'))
      await drive.ask({ kind: 'unmount', isLazy: true })
      expect(await drive.isMounted()).toBe(false)
      expect(await file.readFile('utf8')).toBe('still served')
      await file.close()
      expect(await within(10_000, 'the end of the mount', drive.closed)).toBe('unmounted')
    })

    test('whose connection is aborted ends as failed, and is left to him', async () => {
      const drive = await mountPassed()
      await writeFile(drive.at('a'), 'passed')
      const file = await open(drive.at('a'))
      await run('umount', ['-f', folder], { mayFail: true })
      expect(await within(10_000, 'the end of the mount', drive.closed)).toBe('failed')
      await file.close().catch(() => {})
    })

    test('is not unmounted by an ordinary user who serves it: the error says who may', async () => {
      const drive = await mountPassed({ user: { uid: 65534, gid: 65534 } })
      await expect(drive.ask({ kind: 'unmount', isLazy: false })).rejects.toThrow(
        expect.objectContaining({
          code: 'EPERM',
          message: `${folder} was mounted by somebody else, and this process may not unmount it: as root run umount ${folder}`,
        }),
      )
      await drive.counts()
    })
  })

  test('is served through the thread pool by a Node that cannot poll the device', async () => {
    const unable = `import net from 'node:net'; net.Socket.prototype.connect = function () { return this }`
    const drive = await mount({ preload: `data:text/javascript,${encodeURIComponent(unable)}` })
    await bash('head -c 3000000 /dev/urandom > "$1/a"; cp "$1/a" "$1/b"; cmp "$1/a" "$1/b"; ls -l "$1"', [
      drive.path,
    ])
    expect(drive.stderr).toContain('reading it through the thread pool')
    await drive.unmount()
    expect(await within(10_000, 'the end of the mount', drive.closed)).toBe('unmounted')
    drive.process.disconnect()
    await within(10_000, 'the end of the process', drive.ended)
  })

  test('frees those who wait when its process is killed', async () => {
    const drive = await mount()
    await drive.ask({ kind: 'hold', operation: 'lookup', ignoresSignal: true })
    const look = spawn('stat', [drive.at('a')], { cwd: '/', stdio: 'ignore' })
    const ended = once(look, 'exit')
    await drive.holds(1)
    drive.process.kill('SIGKILL')
    expect((await within(10_000, 'the end of stat', ended))[0]).toBe(1)
  })
})

/** The watchdogs of a mountpoint, by pid. */
async function watchdogs(mountpoint: string): Promise<number[]> {
  const { stdout } = await run('pgrep', ['-f', `docmount-watchdog .*${mountpoint}`], { mayFail: true })
  return stdout.split('\n').filter(Boolean).map(Number)
}

function isAlive(pid: number): boolean {
  try {
    process.kill(pid, 0)
    return true
  } catch {
    return false
  }
}
