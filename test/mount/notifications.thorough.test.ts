// Notifications of a drive, as a desktop's notification daemon (dunst, on a bus and a screen of its own) shows them.

import { type ChildProcess, spawn } from 'node:child_process'
import { readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { afterEach, beforeEach, describe, expect, test } from 'vitest'
import { type Desk, startDesk } from '../support/desk.ts'
import { whyNoFuse } from '../support/fuse.ts'
import { isInstalled, run } from '../support/run.ts'
import { type Screen, screenPrograms, startScreen } from '../support/screen.ts'
import { waitUntil } from '../support/wait-until.ts'

const programs = [...screenPrograms, 'dunst', 'notify-send']
const whyNot = whyNoFuse() ?? programs.find((program) => !isInstalled(program))

describe.runIf(whyNot === undefined)('a desktop', () => {
  let desk: Desk
  let screen: Screen
  let dunst: ChildProcess
  let shown = ''
  let mounts: string[]

  beforeEach(async () => {
    desk = await startDesk()
    shown = ''
    mounts = []
    screen = await startScreen(desk.env)
    dunst = spawn('dunst', ['-conf', '/dev/null', '-print'], {
      env: screen.env,
      stdio: ['ignore', 'pipe', 'ignore'],
    })
    dunst.stdout?.on('data', (chunk: Buffer) => (shown += chunk.toString()))
    desk.env = { ...desk.env, DBUS_SESSION_BUS_ADDRESS: screen.env['DBUS_SESSION_BUS_ADDRESS'] }
    // The daemon is there once it shows the first one.
    await waitUntil('the notification daemon', async () => {
      await run('notify-send', ['ready'], { env: desk.env, mayFail: true })
      return bodies().length > 0 || shown.includes('ready')
    })
    shown = ''
  })
  afterEach(async () => {
    const ended = new Promise((end) => dunst.once('exit', end))
    dunst.kill()
    await ended
    await desk.close()
    for (const mountpoint of mounts) await run('umount', ['-l', mountpoint], { mayFail: true })
    await screen.close()
  })

  /** Bodies of the notifications shown, in order. */
  const bodies = (): string[] => [...shown.matchAll(/^\s*body: '(.*)'$/gm)].map(([, body = '']) => body)
  const says = (words: RegExp): Promise<string> =>
    waitUntil(`${words} among:\n${bodies().join('\n')}`, () => bodies().find((body) => words.test(body)))

  test('shows what was refused: a whole drag at once, and by its name what the service would not take', async () => {
    const drive = await desk.mount('drive')
    for (const name of ['a.docx', 'b.zip', 'c.gif']) await desk.save(join(drive, name), 'x')
    await says(
      /^\/c\.gif could not be saved: the service takes no gif .* And 2 more: docmount status names them\.$/,
    )
    desk.testService.service.faults.inject({ kind: 'status', status: 413 }, { method: 'PUT' })
    await desk.save(join(drive, 'd.txt'), 'x')
    await says(/^\/d\.txt was refused: .*413.* It is kept on this machine: docmount retry sends it again\.$/)
    await desk.save(join(drive, 'e.txt'), 'x')
    expect(bodies().filter((body) => body.includes('was refused'))).toHaveLength(1)
    expect(shown).toContain(`summary: 'docmount: acme'`)
  })

  test('shows a conflict with the name of the copy', async () => {
    await desk.testService.other.put('/a.txt', 'first')
    const drive = await desk.mount('drive', '--cache-ttl', '10m')
    await run('timeout', ['200', 'cat', join(drive, 'a.txt')])
    await desk.testService.other.put('/a.txt', 'theirs')
    await desk.save(join(drive, 'a.txt'), 'ours')
    await says(
      /^Someone else changed \/a\.txt too\. Their version is kept beside yours: \/a \(conflict .*\)\.txt\.$/,
    )
  })

  test('shows the service going, coming back, and that all is sent; and a key that is refused', async () => {
    const drive = await desk.mount('drive')
    await desk.testService.stop()
    await desk.save(join(drive, 'a.txt'), 'a')
    await says(/^The service cannot be reached\. /)
    await desk.testService.start()
    await desk.docmount('retry', drive)
    await says(/^The service is back\.$/)
    await says(/^Everything that was kept on this machine has been sent to the service\.$/)
    const takeBack = desk.testService.service.faults.inject({ kind: 'status', status: 401 })
    await desk.docmount('refresh', drive)
    await run('timeout', ['20', 'ls', drive], { mayFail: true })
    await says(/^The service no longer accepts the API key\. .*run docmount login\.$/)
    takeBack()
  })

  test('shows after an eject that it is still sending, and when it is done', async () => {
    const drive = await desk.mount('drive', '--close-wait', '0', '--bwlimit', '100K')
    await desk.save(join(drive, 'large.txt'), 'x'.repeat(100_000))
    await run('umount', [drive])
    await says(/^The drive is unmounted, but 1 change \(\d.*\) is still on the way to the service\./)
    await says(/^Everything that was kept on this machine has been sent to the service\.$/)
    expect((await desk.testService.other.bytes('/large.txt')).length).toBe(100_000)
  })

  test.skipIf(process.getuid?.() !== 0)('shows that the disk is full', async () => {
    const small = join(desk.home, 'small')
    await run('mkdir', [small])
    await run('mount', ['-t', 'tmpfs', '-o', 'size=12m,mode=0700', 'tmpfs', small])
    mounts.push(small)
    const drive = await desk.mount('drive', '--state-dir', join(small, 'state'))
    const wrote = await run(
      'timeout',
      ['30', 'sh', '-c', 'head -c 16000000 /dev/zero > "$1"', 'sh', join(drive, 'a.pdf')],
      {
        mayFail: true,
      },
    )
    expect(wrote.stderr).toContain('No space left on device')
    await says(/^The disk of this machine is full, and something was not saved\./)
  })

  test('shows nothing with --no-notify, and without a desktop nothing is missed', async () => {
    const quiet = await desk.mount('quiet', '--no-notify')
    await desk.save(join(quiet, 'a.docx'), 'x')
    const { DBUS_SESSION_BUS_ADDRESS: _, ...without } = desk.env
    const before = desk.env
    desk.env = without
    const lonely = await desk.mount('lonely')
    await desk.save(join(lonely, 'b.docx'), 'x')
    desk.env = before
    const loud = await desk.mount('loud')
    await desk.save(join(loud, 'c.docx'), 'x')
    await says(/^\/c\.docx could not be saved/)
    expect(bodies().filter((body) => !body.startsWith('/c.docx'))).toEqual([])
    const record = (await desk.records()).find(({ mountpoint }) => mountpoint === lonely)
    expect(await readFile(record?.logFile ?? '', 'utf8')).not.toMatch(/notif|"level":"error"/)
  })
})
