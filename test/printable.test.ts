// Names that other clients choose, on their way to a terminal.

import { afterAll, afterEach, beforeAll, beforeEach, expect, test } from 'vitest'
import { ApiError, ContentError, NetworkError } from '../src/api/errors.ts'
import { leftLines } from '../src/cli/left-text.ts'
import { pinLine } from '../src/cli/pin-text.ts'
import { placeLine } from '../src/cli/place-text.ts'
import { describeDrive, describeLeft } from '../src/cli/status-text.ts'
import {
  describeExceptLocalOnly,
  describeLeftUnsent,
  describeLocalOnly,
  unsentLine,
} from '../src/cli/unsent-text.ts'
import type { LostContent } from '../src/content/spool/lost-and-found.ts'
import type { MountStatus } from '../src/daemon/control-protocol.ts'
import { humanLine, openLog } from '../src/daemon/log.ts'
import type { PinStatus } from '../src/fs/pins/pin-status.ts'
import type { Unsent } from '../src/fs/status.ts'
import { printable, printableJson, printableLines } from '../src/printable.ts'
import { cli } from './support/cli.ts'
import { bareHomeIn } from './support/home.ts'
import { type Ran, run } from './support/run.ts'
import { type TestService, project, startTestService } from './support/service.ts'
import { type TemporaryFolder, makeTemporaryFolder } from './support/temporary-folder.ts'

/** Clears the screen, by both ways there are to begin a command; renames the window; makes a line of its own. */
const name = 'a\u001b[2J\u009b2J\u001b]0;x\u0007\u007f\ndocmount: all is sent.txt'
const clean = 'a?[2J?2J?]0;x???docmount: all is sent.txt'

let service: TestService
let home: TemporaryFolder
beforeAll(async () => {
  service = await startTestService()
})
afterAll(() => service.close())
beforeEach(async () => {
  home = await makeTemporaryFolder()
})
afterEach(() => home.remove())

function docmount(...args: readonly string[]): Promise<Ran> {
  const env = {
    ...bareHomeIn(home.path),
    DOCMOUNT_BASE_URL: service.baseUrl,
    DOCMOUNT_API_KEY: service.apiKey,
  }
  return run(process.execPath, [cli, ...args], { env, mayFail: true })
}

test('a name is cleaned on one line, text line by line, and JSON without a loss', () => {
  expect(printable(name)).toBe(clean)
  expect(printableLines(`1\t2\n${name}`)).toBe(`1\t2\n${clean.replace('??docmount', '?\ndocmount')}`)
  const json = printableJson(JSON.stringify({ name }))
  expect(json).not.toMatch(/\p{Cc}/u)
  expect(JSON.parse(json)).toEqual({ name })
})

test('no error that names a path, or has the words of a service, holds what a terminal would obey', () => {
  const call = { method: 'GET', path: `/${name}` }
  const words = 'no \u009b31m such'
  const errors = [
    new ApiError(call, 404, words),
    new NetworkError(call, 'cut', words),
    new ContentError(call, words),
  ]
  for (const { message } of errors) {
    expect(message).toContain(`GET /${clean}: `)
    expect(message).not.toMatch(/\p{Cc}/u)
  }
  expect(errors[0]).toMatchObject({ path: `/${name}`, errorMessage: 'no ?31m such' })
})

test('no line of a log does', () => {
  const lines: string[] = []
  const log = openLog({ sink: { write: (line) => void lines.push(line) } })
  log.warn({ path: `/${name}`, error: new Error(name), list: [name] }, `saved ${name}`)
  const [line = ''] = lines
  expect(line.trimEnd()).not.toMatch(/\p{Cc}/u)
  expect(JSON.parse(line)).toMatchObject({ path: `/${name}` })
  const shown = humanLine(line)
  expect(shown).not.toMatch(/[^\P{Cc}\n\t]/u)
  expect(shown).toContain(`saved ${clean}`)
})

test('no name makes a line of its own in a report: neither as a path, nor in the reason beside it', () => {
  const [path, reason] = [`/${name}`, `waits for /${name}, which is refused`]
  const file = { path, bytes: 1, why: `a backup of ${name}` }
  const unsent = { path, action: 'delete', state: 'pending', lastError: reason } as Unsent
  const pin = { path, state: 'partly', problem: reason } as unknown as PinStatus
  const lost = { file: `/lost/${name}`, name, path: undefined, bytes: 1 } as LostContent
  const left = {
    unsent: [],
    localOnly: [file],
    lost: [lost],
    damaged: [`/state/${name}`],
    problem: undefined,
  }
  const shown = {
    mountpoint: '/drive',
    unsent: [unsent],
    pins: [pin],
    scratch: [],
    localOnly: [file],
    damaged: [],
    refusedNames: [{ path, what: name }],
    conflictCopies: [{ path, copy: path }],
    lost: [lost],
    trouble: [reason],
    oddEntries: { leftOut: 0 },
  } as unknown as MountStatus
  for (const [text, lines] of [
    [unsentLine(unsent), 1],
    [placeLine(path, { state: 'here', why: file.why, bytes: 1 }), 1],
    [placeLine(path, { state: 'unsent', unsent }), 1],
    [pinLine(pin), 1],
    [leftLines(left).join('\n'), 3],
    [describeLeft({ stateDir: '/state', drive: undefined, left }), 6],
    [describeLocalOnly([file]), 2],
    [describeExceptLocalOnly([file]), 2],
    [describeLeftUnsent([unsent], '/state'), 2],
    [describeDrive(shown), 14],
  ] as const) {
    expect(text.split('\n')).toHaveLength(lines)
    expect(text).not.toMatch(/[^\P{Cc}\n]/u)
  }
})

test.each(['get', 'rm', 'ls', 'unmount', 'wait', 'status', 'pin'])(
  'the command %s says nothing a terminal would obey',
  async (command) => {
    const isLocal = !['get', 'rm', 'ls'].includes(command)
    const { stdout, stderr, code } = await docmount(command, ...(isLocal ? [] : [project]), `/${name}`)
    expect([code === 0, stdout + stderr]).toEqual([false, expect.stringContaining('a?[2J')])
    expect(stdout + stderr).not.toMatch(/[^\P{Cc}\n\t]/u)
  },
)

test('a listing as JSON is safe to look at, and whole', async () => {
  await service.other.put(`/listed/${name}`, 'x')
  const { stdout } = await docmount('ls', project, '/listed', '--json')
  expect(stdout).not.toMatch(/[^\P{Cc}\n]/u)
  expect(JSON.parse(stdout)).toMatchObject([{ name }])
  // A script that reads names line by line gets them as they are.
  expect((await docmount('ls', project, '/listed')).stdout).toBe(`${name}\n`)
  expect((await docmount('ls', project, '/listed', '--long')).stdout).toContain(clean)
})
