import { execFileSync } from 'node:child_process'
import { once } from 'node:events'
import { mkdir, stat, writeFile } from 'node:fs/promises'
import { connect } from 'node:net'
import { join } from 'node:path'
import { afterEach, beforeEach, expect, test } from 'vitest'
import { ask } from '../../src/daemon/control-client.ts'
import { maxRequestBytes, type UnmountProgress } from '../../src/daemon/control-protocol.ts'
import {
  type ControlHandlers,
  type ControlServer,
  startControlServer,
} from '../../src/daemon/control-server.ts'
import { DaemonError } from '../../src/daemon/daemon-error.ts'
import { silentLog } from '../../src/log.ts'
import { makeTemporaryFolder, type TemporaryFolder } from '../support/temporary-folder.ts'

let temporary: TemporaryFolder
let server: ControlServer | undefined
beforeEach(async () => {
  temporary = await makeTemporaryFolder()
})
afterEach(async () => {
  await server?.close()
  server = undefined
  await temporary.remove()
})

/** Answers `retry` with what the test says and refuses everything else. */
const refuse = (): never => {
  throw new DaemonError('not in this test')
}
const handlers: ControlHandlers = {
  status: refuse,
  explain: refuse,
  report: refuse,
  folder: refuse,
  wait: refuse,
  link: refuse,
  refresh: refuse,
  resolve: refuse,
  dismissNames: refuse,
  dismissDamage: refuse,
  retry: ({ path }) => ({ retried: path.length }),
  pause: refuse,
  resume: refuse,
  bwlimit: refuse,
  pin: refuse,
  unpin: refuse,
  free: refuse,
  pins: refuse,
  fetch: refuse,
  cache: refuse,
  clearCache: refuse,
  tables: refuse,
  former: refuse,
  restore: refuse,
  emptyUndo: refuse,
  recover: refuse,
  recoverLost: refuse,
  unmount: refuse,
}

async function listen(own: Partial<ControlHandlers> = {}, name = 'a.sock'): Promise<string> {
  const path = join(temporary.path, name)
  server = await startControlServer(path, { ...handlers, ...own }, silentLog)
  return path
}

test('a command is answered, for this user alone', async () => {
  const path = await listen()
  expect(await ask(path, 'retry', { path: '/abc' })).toEqual({ retried: 4 })
  expect((await stat(path)).mode & 0o777).toBe(0o600)
})

test('a client that hangs up before its answer harms nobody', async () => {
  const path = await listen()
  // Each has asked and gone before the server comes to it, as after a daemon stood still.
  for (let client = 0; client < 50; client++) {
    const socket = connect(path)
    socket.write(`${JSON.stringify({ command: 'retry', input: { path: '/abc' } })}\n`)
    socket.once('connect', () => socket.destroy())
    await once(socket, 'close')
  }
  expect(await ask(path, 'retry', { path: '/abc' })).toEqual({ retried: 4 })
})

test('progress arrives in order before the answer', async () => {
  const path = await listen({
    unmount: (_, { onProgress }) => {
      for (const unsent of [2, 1, 0]) onProgress({ state: 'draining', unsent, leftBytes: unsent * 10 })
      return { unsent: [], isDetached: false }
    },
  })
  const seen: UnmountProgress[] = []
  const answer = await ask(
    path,
    'unmount',
    { force: false, timeoutMs: 0 },
    { onProgress: (progress) => seen.push(progress) },
  )
  expect(seen.map(({ unsent }) => unsent)).toEqual([2, 1, 0])
  expect(answer).toEqual({ unsent: [], isDetached: false })
})

test("an error keeps the daemon's words, code and whether it is temporary", async () => {
  const path = await listen({
    wait: () => {
      throw Object.assign(new DaemonError('the service is away', { isTemporary: true }), {
        code: 'ETIMEDOUT',
      })
    },
  })
  await expect(ask(path, 'wait', { path: '/' })).rejects.toMatchObject({
    name: 'DaemonError',
    message: 'the service is away',
    code: 'ETIMEDOUT',
    isTemporary: true,
  })
})

test('hanging up takes the question back', async () => {
  const interruption = new AbortController()
  let onTakenBack: () => void = () => {}
  const seen = new Promise<void>((resolve) => {
    onTakenBack = resolve
  })
  const path = await listen({
    wait: (_, { signal }) => {
      interruption.abort(new DaemonError('interrupted'))
      return new Promise((_resolve, reject) => {
        signal.addEventListener('abort', () => {
          onTakenBack()
          reject(new DaemonError('nobody waits any more'))
        })
      })
    },
  })
  await expect(ask(path, 'wait', { path: '/' }, { signal: interruption.signal })).rejects.toThrow(
    'interrupted',
  )
  await seen
})

test('what was asked by somebody who has gone before anybody looked is not done', async () => {
  let asked = 0
  const path = await listen({
    unmount: () => {
      asked++
      return { unsent: [], isDetached: false }
    },
  })
  const request = '{"command":"unmount","input":{"force":false,"timeoutMs":1000}}\n'
  const script = `const s = require('net').connect(process.argv[1], () => s.write(process.argv[2], () => s.destroy()))`
  // Meanwhile nobody listens: this process stands still.
  execFileSync(process.execPath, ['-e', script, path, request])
  expect(await ask(path, 'retry', { path: '/abc' })).toEqual({ retried: 4 })
  expect(asked).toBe(0)
})

test('a socket left by a dead daemon is replaced, one nobody serves is said to be so', async () => {
  const path = join(temporary.path, 'a.sock')
  await expect(ask(path, 'retry', { path: '/' })).rejects.toThrow(/nobody listens/)
  await writeFile(path, '')
  expect(await ask(await listen(), 'retry', { path: '/' })).toEqual({ retried: 1 })
})

test('a path longer than a socket address allows works', async () => {
  const folder = 'deep'.repeat(20)
  await mkdir(join(temporary.path, folder, folder), { recursive: true })
  const path = await listen({}, join(folder, folder, 'a.sock'))
  expect(Buffer.byteLength(path)).toBeGreaterThan(107)
  expect(await ask(path, 'retry', { path: '/ab' })).toEqual({ retried: 3 })
  expect((await stat(path)).isSocket()).toBe(true)
})

test('a closed server leaves no socket behind and lets answers under way finish', async () => {
  let finish: () => void = () => {}
  let onAsked: () => void = () => {}
  const asked = new Promise<void>((resolve) => {
    onAsked = resolve
  })
  const path = await listen({
    refresh: () => {
      onAsked()
      return new Promise((resolve) => {
        finish = () => resolve({})
      })
    },
  })
  const answer = ask(path, 'refresh', { path: '/' })
  await asked
  const closing = server?.close()
  await expect(stat(path)).rejects.toMatchObject({ code: 'ENOENT' })
  finish()
  expect(await answer).toEqual({})
  await closing
})

/** The daemon's answer to raw bytes. */
async function sayRaw(path: string, text: string): Promise<{ error?: { message: string } }> {
  const socket = connect(path)
  await once(socket, 'connect')
  let said = ''
  socket.on('data', (chunk: Buffer) => (said += chunk.toString()))
  // The server may hang up while we still write.
  socket.on('error', () => {})
  socket.write(text)
  await once(socket, 'close')
  return JSON.parse(said) as { error?: { message: string } }
}

test('nonsense is refused in words and harms nobody', async () => {
  const path = await listen()
  expect((await sayRaw(path, 'hello\n')).error?.message).toMatch(/not JSON/)
  expect((await sayRaw(path, 'null\n')).error?.message).toMatch(/no command/)
  expect((await sayRaw(path, '{"command":"constructor"}\n')).error?.message).toMatch(
    /no command "constructor"/,
  )
  expect((await sayRaw(path, 'x'.repeat(maxRequestBytes + 1))).error?.message).toMatch(/too long/)
  expect(await ask(path, 'retry', { path: '/' })).toEqual({ retried: 1 })
})
