// Notifications on the desktop: which, and how often.

import { chmod, mkdir, readFile, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { afterEach, beforeEach, expect, test, vi } from 'vitest'
import { desktopNotifications } from '../../src/daemon/desktop-notifications.ts'
import { makeTemporaryFolder } from '../support/temporary-folder.ts'
import { waitUntil } from '../support/wait-until.ts'

beforeEach(() => {
  vi.useFakeTimers()
})
afterEach(() => {
  vi.useRealTimers()
  vi.unstubAllEnvs()
})

test('each notice is told in words that say what to do', () => {
  const told: string[] = []
  const tell = desktopNotifications('acme', (title, body) => told.push(`${title} | ${body}`))
  tell({ kind: 'refused', path: '/a.pdf', reason: 'PUT /a.pdf: 413 too large', isKept: true })
  tell({ kind: 'conflict', path: '/b.txt', copy: '/b (conflict).txt' })
  tell({ kind: 'lost', path: '/c.txt', file: '/state/lost+found/c' })
  tell({ kind: 'away' })
  tell({ kind: 'back' })
  tell({ kind: 'bug' })
  tell({ kind: 'done' })
  tell({ kind: 'keyRefused', reason: 'GET /: 401 the API key was refused' })
  tell({ kind: 'diskFull' })
  tell({ kind: 'sending', changes: 3, bytes: 2048 })
  tell({ kind: 'left', changes: 1, bytes: 1024 })
  tell({ kind: 'burst', sentence: '20 documents below /a were deleted' })
  vi.advanceTimersByTime(2_000)
  expect(told.toSorted()).toEqual([
    'docmount: acme | /a.pdf was refused: PUT /a.pdf: 413 too large. It is kept on this machine: docmount retry sends it again.',
    'docmount: acme | 1 change (1.0 KiB) is not sent. Everything is kept on this machine, and is sent when the drive is mounted again.',
    'docmount: acme | 20 documents below /a were deleted.',
    'docmount: acme | A fault of docmount ended the drive. What you saved is kept on this machine, and is sent when the drive is mounted again: docmount status says how.',
    'docmount: acme | Content of /c.txt was found and kept. To take it out, run docmount recover --lost.',
    'docmount: acme | Everything that was kept on this machine has been sent to the service.',
    'docmount: acme | Someone else changed /b.txt too. Their version is kept beside yours: /b (conflict).txt.',
    'docmount: acme | The disk of this machine is full, and something was not saved. Make room, then save it again.',
    'docmount: acme | The drive is unmounted, but 3 changes (2.0 KiB) are still on the way to the service. Leave this machine on until everything is sent.',
    'docmount: acme | The service cannot be reached. What you save stays on this machine, and is sent when the service is back.',
    'docmount: acme | The service is back.',
    'docmount: acme | The service no longer accepts the API key. What you save stays on this machine. To give a new key, run docmount login.',
  ])
})

test('a burst of one kind is one notification, and what comes later in it another one at the end of a minute', () => {
  const told: string[] = []
  const tell = desktopNotifications('acme', (_title, body) => told.push(body))
  const refuse = (from: number, to: number): void => {
    for (let count = from; count <= to; count++)
      tell({ kind: 'refused', path: `/${count}.pdf`, reason: 'no', isKept: true })
  }
  refuse(1, 50)
  vi.advanceTimersByTime(2_000)
  expect(told).toEqual([expect.stringMatching(/^\/50\.pdf was refused.*And 49 more: docmount status/)])
  refuse(51, 60)
  vi.advanceTimersByTime(60_000)
  expect(told).toHaveLength(2)
  expect(told[1]).toMatch(/^\/60\.pdf was refused.*And 9 more: docmount status/)
  vi.advanceTimersByTime(600_000)
  expect(told).toHaveLength(2)
})

test('what one drag refuses is one notification, with how many', () => {
  const told: string[] = []
  const tell = desktopNotifications('acme', (_title, body) => told.push(body))
  for (let count = 1; count <= 8; count++)
    tell({ kind: 'unsupported', path: `/${count}.docx`, what: 'docx files (Word documents)' })
  expect(told).toEqual([])
  vi.advanceTimersByTime(600_000)
  expect(told).toEqual([
    '/8.docx could not be saved: the service takes no docx files (Word documents). Save it in another format, such as PDF. And 7 more: docmount status names them.',
  ])
})

test('the desktop’s tool gets text without markup, and its failure is nobody’s', async () => {
  vi.useRealTimers()
  const folder = await makeTemporaryFolder()
  const programs = join(folder.path, 'bin')
  await mkdir(programs)
  const program = join(programs, 'notify-send')
  await writeFile(program, `#!/bin/sh\nprintf '%s\\n' "$@" >"${folder.path}/said"\nexit 1\n`)
  await chmod(program, 0o755)
  vi.stubEnv('PATH', `${programs}:${process.env['PATH']}`)
  vi.stubEnv('DBUS_SESSION_BUS_ADDRESS', 'unix:path=/nowhere')
  desktopNotifications('acme')({ kind: 'refused', path: '/<b>.pdf', reason: 'a & b', isKept: true })
  const said = join(folder.path, 'said')
  await waitUntil('the tool to be called', async () => (await readFile(said, 'utf8').catch(() => '')) !== '')
  expect(await readFile(said, 'utf8')).toContain('/&lt;b&gt;.pdf was refused: a &amp; b.')
  await folder.remove()
})
