// Mounting and unmounting with the fuse-native driver: odd names, several mounts, users who will not leave.

import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { access, mkdir, open, readdir, readFile, stat, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { setTimeout } from 'node:timers/promises'
import { afterEach, beforeEach, describe, expect, test } from 'vitest'
import { whyNoFuse } from '../support/fuse.ts'
import { mountMemory, type MemoryMount, type MemoryMountOptions } from '../support/memory-mount.ts'
import { run } from '../support/run.ts'
import { makeTemporaryFolder, type TemporaryFolder } from '../support/temporary-folder.ts'
import { waitUntil } from '../support/wait-until.ts'

const why = whyNoFuse()

describe.skipIf(why !== undefined)(`fuse-native mounts${why === undefined ? '' : ` (${why})`}`, () => {
  let folder: TemporaryFolder
  const drives: MemoryMount[] = []

  beforeEach(async () => {
    folder = await makeTemporaryFolder()
  })

  afterEach(async () => {
    for (const drive of drives.splice(0)) await drive.remove()
    await folder.remove()
  })

  async function mount(options: MemoryMountOptions = {}): Promise<MemoryMount> {
    const drive = await mountMemory({ driver: 'fuse-native', ...options })
    drives.push(drive)
    return drive
  }

  const mountTable = (): Promise<string> => readFile('/proc/self/mountinfo', 'utf8')
  const refusal = (code: string): unknown => expect.objectContaining({ code })

  test('are listed as fuse.docmount with their source, cleaned of commas and backslashes', async () => {
    const drive = await mount({ source: 'docmount:a,allow_other,b\\c' })
    const line = (await mountTable()).split('\n').find((each) => each.includes(` ${drive.path} `))
    expect(line).toContain(' - fuse.docmount docmount:aallow_otherbc ')
    expect(line).toContain('default_permissions')
    expect(line).not.toContain(',allow_other')
  })

  test('are read-only when asked', async () => {
    const drive = await mount({ readOnly: true })
    await expect(writeFile(drive.at('a'), '')).rejects.toEqual(refusal('EROFS'))
  })

  test.each([
    '$(touch injected)',
    '`touch injected`',
    'a "quoted" name',
    "it's; touch injected",
    'one,two',
    ' spaces ',
    'täst \u{1F600}',
    '-u',
  ])('work on a folder named %s and unmount from it, and no shell sees the name', async (name) => {
    const mountpoint = join(folder.path, name)
    await mkdir(mountpoint)
    const drive = await mount({ mountpoint })
    await writeFile(drive.at('a'), 'content')
    expect(await readFile(drive.at('a'), 'utf8')).toBe('content')
    await drive.ask({ kind: 'unmount', isLazy: false })
    expect(await drive.closed).toBe('unmounted')
    expect(await readdir(mountpoint)).toEqual([])
    expect(await readdir(folder.path)).toEqual([name])
    // Where a shell started by the program would have run the command.
    await expect(access('/injected')).rejects.toEqual(refusal('ENOENT'))
  })

  test('end before the program that unmounted them does: libfuse cancels no thread that hears of its end', async () => {
    const seen = join(folder.path, 'seen')
    const noteAtExit = `
      import childProcess from 'node:child_process'
      import { appendFileSync, readdirSync, readlinkSync } from 'node:fs'
      import { syncBuiltinESMExports } from 'node:module'
      const devices = () => readdirSync('/proc/self/fd').filter((fd) => {
        try {
          return readlinkSync('/proc/self/fd/' + fd) === '/dev/fuse'
        } catch {
          return false
        }
      })
      const { spawn } = childProcess
      childProcess.spawn = (...args) =>
        spawn(...args).on('exit', () => appendFileSync(${JSON.stringify(seen)}, devices().length + ' ended\\n'))
      syncBuiltinESMExports()`
    const drive = await mount({ preload: `data:text/javascript,${encodeURIComponent(noteAtExit)}` })
    const file = await open(drive.at('a'), 'w')
    await drive.ask({ kind: 'unmount', isLazy: true })
    await setTimeout(300) // for a program that does not wait
    await file.close()
    expect(await drive.closed).toBe('unmounted')
    await waitUntil(
      'the end of the program',
      async () => (await readFile(seen, 'utf8').catch(() => '')) !== '',
    )
    expect(await readFile(seen, 'utf8')).toBe('0 ended\n')
  })

  test('two in one process are two drives, and one ends without the other', async () => {
    const second = join(folder.path, 'second')
    await mkdir(second)
    const drive = await mount()
    await drive.ask({ kind: 'mount', mountpoint: second })
    await writeFile(drive.at('a'), 'first')
    await writeFile(join(second, 'a'), 'second')
    expect(await readFile(drive.at('a'), 'utf8')).toBe('first')
    await drive.ask({ kind: 'unmount', isLazy: false })
    expect(await drive.closed).toBe('unmounted')
    expect(await readFile(join(second, 'a'), 'utf8')).toBe('second')
    await drive.ask({ kind: 'unmount', isLazy: false, index: 1 })
    expect(await readdir(second)).toEqual([])
  })

  test('are refused over a folder that holds something, which stays', async () => {
    await writeFile(join(folder.path, 'before'), '')
    await expect(mount({ mountpoint: folder.path })).rejects.toEqual(refusal('ENOTEMPTY'))
    expect(await readdir(folder.path)).toEqual(['before'])
  })

  test('that somebody else unmounts end too', async () => {
    const drive = await mount()
    await run('umount', ['--', drive.path])
    expect(await drive.closed).toBe('unmounted')
  })

  test('in use are not unmounted: EBUSY, nothing is lost, and later it works', async () => {
    const drive = await mount()
    const file = await open(drive.at('a'), 'w')
    await file.write('not finished')
    await expect(drive.ask({ kind: 'unmount', isLazy: false })).rejects.toEqual(refusal('EBUSY'))
    await file.write(' until now')
    await file.close()
    expect(await readFile(drive.at('a'), 'utf8')).toBe('not finished until now')
    await waitUntil('the file to be closed', async () => (await drive.counts()).openHandles === 0)
    await drive.ask({ kind: 'unmount', isLazy: false })
    expect(await drive.closed).toBe('unmounted')
  })

  test('unmounted lazily vanish at once and serve their last user to the end', async () => {
    const drive = await mount()
    let reason: string | undefined
    void drive.closed.then((closed) => (reason = closed))
    const user = spawn('bash', [
      '-c',
      'exec 3<>"$1"/a; echo one >&3; echo ready; read x; echo two >&3 && echo written',
      'bash',
      drive.path,
    ])
    let said = ''
    user.stdout.on('data', (chunk: Buffer) => (said += chunk.toString()))
    await waitUntil('the user to have a file open', () => said.includes('ready'))
    await drive.ask({ kind: 'unmount', isLazy: true })
    expect(await drive.isMounted()).toBe(false)
    expect(reason).toBeUndefined()
    user.stdin.end('\n')
    await once(user, 'close')
    expect(said).toContain('written')
    expect(await drive.closed).toBe('unmounted')
    expect((await drive.counts()).openHandles).toBe(0)
  })

  test.skipIf(process.getuid?.() !== 0)(
    'whose connection is aborted end as failed and leave no dead folder behind',
    async () => {
      const drive = await mount()
      const control = join(folder.path, 'control')
      await mkdir(control)
      await run('mount', ['-t', 'fusectl', 'fusectl', control])
      try {
        const file = await open(drive.at('a'), 'w')
        const { dev } = await stat(drive.path)
        await writeFile(join(control, String(dev & 0xff), 'abort'), '1')
        expect(await drive.closed).toBe('failed')
        expect((await drive.counts()).openHandles).toBe(0)
        await expect(file.close()).rejects.toThrow()
        expect(await readdir(drive.path)).toEqual([])
      } finally {
        await run('umount', ['-l', control])
      }
    },
  )

  test('are refused where there is no folder, with what to do', async () => {
    const file = join(folder.path, 'file')
    await writeFile(file, '')
    await expect(mountMemory({ driver: 'fuse-native', mountpoint: file })).rejects.toEqual(refusal('ENOTDIR'))
    const taken = await mount()
    const other = await mount()
    await expect(other.ask({ kind: 'mount', mountpoint: taken.path })).rejects.toEqual(refusal('EBUSY'))
    await expect(other.ask({ kind: 'mount', mountpoint: join(folder.path, 'absent') })).rejects.toThrow(
      'does not exist; run: mkdir -p',
    )
  })
})
