// Situations in which a daemon that writes from its main thread, or waits for its own mount, hangs for ever. Each test
// has a time limit: within 20 s everything must have gone on.

import { spawn, type ChildProcess } from 'node:child_process'
import { once } from 'node:events'
import { writeFile } from 'node:fs/promises'
import { afterEach, beforeEach, describe, expect, test } from 'vitest'
import { whyNoFuse } from '../support/fuse.ts'
import { isMounted, mountMemory, within, type MemoryMount } from '../support/memory-mount.ts'
import { run } from '../support/run.ts'
import type { OperationName } from '../support/serve-memory-protocol.ts'
import { waitUntil } from '../support/wait-until.ts'

const why = whyNoFuse()

describe.skipIf(why !== undefined)(`the kernel driver${why === undefined ? '' : ` (${why})`}`, () => {
  let drive: MemoryMount
  let programs: ChildProcess[]

  beforeEach(async () => {
    programs = []
    // Times to live of 0: every step asks, as in the worst case.
    drive = await mountMemory({ fileSystem: { entryTtlMs: 0, attributeTtlMs: 0 } })
    await drive.ask({ kind: 'put', path: '/file', text: 'first' })
  })

  afterEach(async () => {
    for (const program of programs) program.kill('SIGKILL')
    await drive.remove()
  })

  /** A program that uses the mount; it may hang without hanging the test. */
  function start(program: string, ...args: string[]): { ended: Promise<number | null> } {
    const child = spawn(program, args, { cwd: '/', stdio: 'ignore' })
    programs.push(child)
    return { ended: within(20_000, program, once(child, 'exit')).then(([code]) => code as number | null) }
  }

  describe('does not stop while a notification waits for the kernel:', () => {
    test('content of a file that is being read', async () => {
      await drive.ask({ kind: 'hold', operation: 'read' })
      const cat = start('cat', drive.at('file'))
      await drive.holds(1)
      await drive.ask({ kind: 'put', path: '/file', text: 'second', notify: 'content' })
      expect((await drive.counts()).waiting).toBe(1)
      await drive.ask({ kind: 'letGo', operation: 'read' })
      expect(await cat.ended).toBe(0)
    })

    test('content of a file that is being written', async () => {
      await drive.ask({ kind: 'hold', operation: 'write' })
      const tee = start('sh', '-c', `echo more >> '${drive.at('file')}'`)
      await drive.holds(1)
      await drive.ask({ kind: 'put', path: '/file', text: 'second', notify: 'content' })
      await drive.ask({ kind: 'letGo', operation: 'write' })
      expect(await tee.ended).toBe(0)
    })

    test('a name in a folder where another name is being looked up', async () => {
      await drive.ask({ kind: 'hold', operation: 'lookup' })
      const look = start('stat', drive.at('other'))
      await drive.holds(1)
      await drive.ask({ kind: 'notifyName', parent: 1, name: 'file' })
      await drive.ask({ kind: 'letGo', operation: 'lookup' })
      expect(await look.ended).toBe(1)
    })

    test('a name in a folder where another name is being removed', async () => {
      await drive.ask({ kind: 'hold', operation: 'unlink' })
      const remove = start('rm', drive.at('file'))
      await drive.holds(1)
      await drive.ask({ kind: 'notifyName', parent: 1, name: 'other' })
      await drive.ask({ kind: 'letGo', operation: 'unlink' })
      expect(await remove.ended).toBe(0)
    })

    const changes: [OperationName, string][] = [
      ['create', 'touch "$1/new"'],
      ['mkdir', 'mkdir "$1/new"'],
      ['rename', 'mv "$1/file" "$1/other"'],
      ['readdir', 'ls "$1"'],
    ]
    test.each(changes)('a name in a folder where a %s is under way: %s', async (operation, command) => {
      await drive.ask({ kind: 'hold', operation })
      const child = start('sh', '-c', `exec ${command}`, 'sh', drive.path)
      await drive.holds(1)
      await drive.ask({ kind: 'notifyName', parent: 1, name: 'file' })
      await drive.ask({ kind: 'letGo', operation })
      expect(await child.ended).toBe(0)
    })

    test('and thousands of them behind it: the thread pool stays free', async () => {
      await drive.ask({ kind: 'hold', operation: 'lookup' })
      const look = start('stat', drive.at('other'))
      await drive.holds(1)
      await Promise.all(
        Array.from({ length: 2000 }, (_, index) =>
          drive.ask({ kind: 'notifyName', parent: 1, name: `name-${index}` }),
        ),
      )
      await drive.ask({ kind: 'letGo', operation: 'lookup' })
      expect(await look.ended).toBe(1)
    })
  })

  /** A call nobody answers, and a notification that waits for it in the kernel. */
  async function hang(): Promise<{ ended: Promise<number | null> }> {
    await drive.ask({ kind: 'hold', operation: 'lookup', ignoresSignal: true })
    const look = start('stat', drive.at('other'))
    await drive.holds(1)
    await drive.ask({ kind: 'notifyName', parent: 1, name: 'file' })
    return look
  }

  test('process.exit with a waiting notification ends the process, its callers and the mount', async () => {
    const look = await hang()
    void drive.ask({ kind: 'exit' }).catch(() => {})
    await within(20_000, 'the end of the process', drive.ended)
    expect(await look.ended).toBe(1)
    await waitUntil('unmounted', async () => !(await drive.isMounted()))
  })

  test('a bug with a waiting notification ends the process, its callers and the mount', async () => {
    const look = await hang()
    void drive.ask({ kind: 'bug' }).catch(() => {})
    await within(20_000, 'the end of the process', drive.ended)
    expect(await look.ended).toBe(1)
    await waitUntil('unmounted', async () => !(await drive.isMounted()))
  })

  test('kill -9 with a waiting notification ends the process, its callers and the mount', async () => {
    const look = await hang()
    drive.process.kill('SIGKILL')
    expect(await look.ended).toBe(1)
    await within(20_000, 'the end of the process', drive.ended)
    await waitUntil('unmounted', async () => !(await drive.isMounted()))
  })

  test('unmounting asks the drive for its attributes, and they are answered', async () => {
    await drive.unmount()
    expect(await within(20_000, 'the end of the mount', drive.closed)).toBe('unmounted')
  })

  test('unmounting while a call hangs is refused, and done once it is answered', async () => {
    await drive.ask({ kind: 'hold', operation: 'read' })
    const cat = start('cat', drive.at('file'))
    await drive.holds(1)
    await expect(drive.ask({ kind: 'unmount', isLazy: false })).rejects.toThrow(
      expect.objectContaining({ code: 'EBUSY' }),
    )
    await drive.ask({ kind: 'letGo', operation: 'read' })
    expect(await cat.ended).toBe(0)
    await drive.unmount()
    expect(await within(20_000, 'the end of the mount', drive.closed)).toBe('unmounted')
  })

  test('a second mount in the process that serves the first one works', async () => {
    const second = `${drive.path}-second`
    await run('mkdir', [second])
    try {
      await drive.ask({ kind: 'mount', mountpoint: second })
      await writeFile(`${second}/a`, 'on the second')
      await run('cp', [`${second}/a`, drive.at('a')])
      expect((await drive.counts(1)).calls.create).toBe(1)
      await drive.ask({ kind: 'unmount', isLazy: false, index: 1 })
    } finally {
      if (await isMounted(second)) await run('umount', ['-l', second])
      await run('rmdir', [second])
    }
  })

  test.skipIf(process.getuid?.() !== 0)(
    'a connection the administrator aborts frees its callers, and the dead mount is taken away',
    async () => {
      await drive.ask({ kind: 'hold', operation: 'lookup', ignoresSignal: true })
      const look = start('stat', drive.at('other'))
      await drive.holds(1)
      await run('umount', ['-f', drive.path], { mayFail: true })
      expect(await look.ended).toBe(1)
      await within(20_000, 'the end of the mount', drive.closed)
      await waitUntil('unmounted', async () => !(await drive.isMounted()))
    },
  )
})
