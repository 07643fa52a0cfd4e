// Ctrl-C on a call that hangs: its caller is free at once, and nothing it would have held leaks.

import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout } from 'node:timers/promises'
import { afterEach, beforeEach, describe, expect, test } from 'vitest'
import { whyNoFuse } from '../support/fuse.ts'
import { mountMemory, within, type MemoryMount } from '../support/memory-mount.ts'
import { python, whyNoPython } from '../support/python.ts'
import type { OperationName } from '../support/serve-memory-protocol.ts'
import { waitUntil } from '../support/wait-until.ts'

const why = whyNoFuse()

describe.skipIf(why !== undefined)(`an interrupt${why === undefined ? '' : ` (${why})`}`, () => {
  let drive: MemoryMount

  beforeEach(async () => {
    drive = await mountMemory({ fileSystem: { entryTtlMs: 0, attributeTtlMs: 0 } })
    await drive.ask({ kind: 'put', path: '/file', text: 'content' })
  })

  afterEach(() => drive.remove())

  const commands: [OperationName, string][] = [
    ['lookup', 'stat "$1/file"'],
    ['getattr', 'stat "$1"'],
    ['open', 'cat "$1/file"'],
    ['create', 'touch "$1/new"'],
    ['mkdir', 'mkdir "$1/new"'],
    ['opendir', 'ls "$1"'],
    ['readdir', 'ls "$1"'],
    // Which handles the signal, for its last words: it is free after some seconds.
    ['read', 'dd if="$1/file" of=/dev/null iflag=direct'],
    ['write', 'cp /etc/passwd "$1/file"'],
    ['flush', 'cp /etc/passwd "$1/file"'],
    ['unlink', 'rm "$1/file"'],
    ['rename', 'mv "$1/file" "$1/other"'],
  ]

  /** Runs the command until its call is held back, then sends SIGINT; answers when it is gone. */
  async function interrupt(operation: OperationName, command: string, ignoresSignal: boolean): Promise<void> {
    await drive.ask({ kind: 'hold', operation, ignoresSignal })
    const child = spawn('sh', ['-c', `exec ${command}`, 'sh', drive.path], { cwd: '/', stdio: 'ignore' })
    const ended = once(child, 'exit')
    await drive.holds(1)
    child.kill('SIGINT')
    await within(10_000, `the end of ${command}`, ended)
  }

  test.each(commands)('ends a hanging %s: %s', async (operation, command) => {
    await interrupt(operation, command, false)
    await waitUntil('the call to be aborted', async () => (await drive.counts()).waiting === 0)
  })

  test('frees a hanging cat at once, though the kernel goes on with its read-ahead', async () => {
    await interrupt('read', 'cat "$1/file"', false)
    await drive.ask({ kind: 'letGo', operation: 'read' })
    await waitUntil('the handle to be closed', async () => (await drive.counts()).openHandles === 0)
  })

  test.each(
    commands.filter(([operation]) => ['lookup', 'open', 'create', 'mkdir', 'opendir'].includes(operation)),
  )('of a %s that succeeds nevertheless leaves no reference and no handle', async (operation, command) => {
    await interrupt(operation, command, true)
    await drive.ask({ kind: 'letGo', operation })
    await waitUntil('nothing to be held', async () => {
      const { openHandles, rememberedNodes, waiting } = await drive.counts()
      return openHandles === 0 && waiting === 0 && (rememberedNodes === 0 || operation === 'open')
    })
  })

  describe.skipIf(whyNoPython !== undefined)('by a signal that the program handles', () => {
    let folder: string

    beforeEach(async () => {
      folder = await mkdtemp(join(tmpdir(), 'docmount-interrupt-'))
    })

    afterEach(() => rm(folder, { recursive: true }))

    /** Runs the program and sends it a signal it handles, once its call is held back. Answers what it says in the end. */
    async function interrupted(program: string): Promise<{ said: Promise<string[]> }> {
      const held = join(folder, 'held')
      const said = python(
        `
import signal, threading, time
seen = []
signal.signal(signal.SIGUSR1, lambda *args: seen.append(1))
signal.siginterrupt(signal.SIGUSR1, True)
def interrupt():
    while not os.path.exists(${JSON.stringify(held)}): time.sleep(0.01)
    os.kill(os.getpid(), signal.SIGUSR1)
threading.Thread(target=interrupt, daemon=True).start()
${program}`,
        drive.path,
      )
      await Promise.race([drive.holds(1), said])
      await writeFile(held, '')
      return { said }
    }

    test('leaves a rename waiting, and what it is told is what became of it', async () => {
      await drive.ask({ kind: 'hold', operation: 'rename' })
      const { said } = await interrupted(
        "print(call('rename', (at + '/file').encode(), (at + '/other').encode()), len(seen))",
      )
      // Longer than anybody is let go after.
      const first = await Promise.race([said, setTimeout(6_500, 'still waiting')])
      expect(first).toBe('still waiting')
      await drive.ask({ kind: 'letGo', operation: 'rename' })
      expect(await said).toEqual(['0 1'])
    })

    test('that only looks is freed with EINTR after some seconds, and the next call works', async () => {
      await drive.ask({ kind: 'hold', operation: 'getattr' })
      const { said } = await interrupted(`
buffer = ctypes.create_string_buffer(1024)
print(call('stat', at.encode(), buffer))`)
      expect(await said).toEqual(['EINTR'])
      await drive.ask({ kind: 'letGo', operation: 'getattr' })
      expect(await python('print(os.path.isdir(at))', drive.path)).toEqual(['True'])
    })

    test('leaves it open to SIGKILL, which frees a rename too', async () => {
      await drive.ask({ kind: 'hold', operation: 'rename' })
      const child = spawn(
        'python3',
        [
          '-c',
          `import os, signal, sys
signal.signal(signal.SIGUSR1, lambda *args: None)
os.rename(sys.argv[1], sys.argv[2])`,
          drive.at('file'),
          drive.at('other'),
        ],
        { cwd: '/', stdio: 'ignore' },
      )
      const ended = once(child, 'exit')
      await drive.holds(1)
      child.kill('SIGUSR1')
      await setTimeout(500)
      expect(child.signalCode).toBeNull()
      child.kill('SIGKILL')
      await within(10_000, 'its end', ended)
      await drive.ask({ kind: 'letGo', operation: 'rename' })
    })
  })

  test('of one caller leaves the others waiting', async () => {
    await drive.ask({ kind: 'hold', operation: 'lookup' })
    const children = [1, 2].map((index) =>
      spawn('stat', [drive.at(`missing-${index}`)], { cwd: '/', stdio: 'ignore' }),
    )
    const ended = children.map((child) => once(child, 'exit'))
    // The second one may wait for the folder's lock behind the first.
    await waitUntil('held calls', async () => (await drive.counts()).waiting >= 1)
    children[0]?.kill('SIGINT')
    await within(10_000, 'the first', ended[0] ?? Promise.reject(new Error('no child')))
    expect(children[1]?.exitCode).toBeNull()
    await drive.ask({ kind: 'letGo', operation: 'lookup' })
    expect((await within(10_000, 'the second', ended[1] ?? Promise.reject(new Error('no child'))))[0]).toBe(1)
  })
})
