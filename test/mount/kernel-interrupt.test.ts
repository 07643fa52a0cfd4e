// Ctrl-C on a call that hangs: its caller is free at once, and nothing it would have held leaks.

import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { afterAll, afterEach, beforeEach, describe, expect, test } from 'vitest'
import { removePrograms } from '../support/build-programs.ts'
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
  afterAll(removePrograms)

  const commands: [OperationName, string][] = [
    ['lookup', 'stat "$1/file"'],
    ['getattr', 'stat "$1"'],
    ['open', 'cat "$1/file"'],
    ['create', 'touch "$1/new"'],
    ['mkdir', 'mkdir "$1/new"'],
    ['opendir', 'ls "$1"'],
    ['readdir', 'ls "$1"'],
    ['read', 'dd if="$1/file" of=/dev/null iflag=direct'],
    ['write', 'echo more > "$1/file"'],
    ['flush', 'echo more > "$1/file"'],
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
    // A redirection is the shell's own work: exec of a builtin is not possible.
    const runnable = command.startsWith('echo') ? `sh -c '${command}' sh "$1"` : command
    await interrupt(operation, runnable, false)
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

  test.skipIf(whyNoPython !== undefined)(
    'that the program survives is EINTR, and the next call works',
    async () => {
      await drive.ask({ kind: 'hold', operation: 'getattr' })
      const said = python(
        `
import signal
class Alarm(Exception): pass
def ring(*args): raise Alarm()
signal.signal(signal.SIGALRM, ring)
signal.setitimer(signal.ITIMER_REAL, 0.2)
try: os.stat(at)
except Alarm: print('interrupted')
signal.signal(signal.SIGALRM, signal.SIG_IGN)
`,
        drive.path,
      )
      expect(await said).toEqual(['interrupted'])
      await drive.ask({ kind: 'letGo', operation: 'getattr' })
      expect(await python('print(os.path.isdir(at))', drive.path)).toEqual(['True'])
    },
  )

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
