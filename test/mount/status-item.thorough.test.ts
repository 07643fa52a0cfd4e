// The status item of a drive, in the tray of a real panel (xfce4-panel; lxqt-panel where it is installed) on a screen and a bus
// of its own. $DOCMOUNT_PICTURES names a folder for the pictures.

import { type ChildProcess, spawn } from 'node:child_process'
import { chmod, mkdir, readFile, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { afterEach, beforeEach, describe, expect, test } from 'vitest'
import { type Desk, inDrive, startDesk } from '../support/desk.ts'
import { whyNoFuse } from '../support/fuse.ts'
import { isInstalled, run } from '../support/run.ts'
import { screenPrograms, type Screen, startScreen } from '../support/screen.ts'
import { waitUntil } from '../support/wait-until.ts'

const programs = [...screenPrograms, 'xfce4-panel', 'xdotool', 'gdbus', 'setpriv']
const whyNot = whyNoFuse() ?? programs.find((program) => !isInstalled(program))

/** Badges of the icons in src/desktop/icons. */
const colours = { stored: '#26a269', sending: '#1c71d8', waiting: '#5e5c64', refused: '#c01c28' }

/** A panel at the top with nothing but the tray: the first item is at its left. */
const panelSettings = `<?xml version="1.0" encoding="UTF-8"?>
<channel name="xfce4-panel" version="1.0">
  <property name="configver" type="int" value="2"/>
  <property name="panels" type="array">
    <value type="int" value="1"/>
    <property name="panel-1" type="empty">
      <property name="position" type="string" value="p=6;x=0;y=0"/>
      <property name="length" type="uint" value="100"/>
      <property name="position-locked" type="bool" value="true"/>
      <property name="size" type="uint" value="32"/>
      <property name="plugin-ids" type="array"><value type="int" value="1"/></property>
    </property>
  </property>
  <property name="plugins" type="empty">
    <property name="plugin-1" type="string" value="systray"/>
  </property>
</channel>`
/** The same of LXQt's panel, which is tried where it is installed. */
const lxqtSettings = `[General]
panels=panel1
[panel1]
position=Top
alignment=-1
panelSize=32
iconSize=22
width=100
width-percent=true
plugins=statusnotifier
[statusnotifier]
type=statusnotifier
alignment=Left
`
const [x, y] = ['17', '16']

describe.runIf(whyNot === undefined)('the status item', () => {
  let desk: Desk
  let screen: Screen
  let panel: ChildProcess | undefined

  beforeEach(async () => {
    desk = await startDesk()
    const settings = join(desk.home, '.config/xfce4/xfconf/xfce-perchannel-xml')
    await mkdir(settings, { recursive: true })
    await writeFile(join(settings, 'xfce4-panel.xml'), panelSettings)
    const bin = join(desk.home, 'bin')
    await mkdir(bin)
    await writeFile(join(bin, 'xdg-open'), `#!/bin/sh\necho "$1" >"${desk.home}/opened"\n`)
    await chmod(join(bin, 'xdg-open'), 0o755)
    screen = await startScreen({ ...desk.env, PATH: `${bin}:${desk.env['PATH']}` })
    desk.env = screen.env
    panel = undefined
  })
  afterEach(async () => {
    await endPanel()
    await desk.close()
    await screen.close()
  })

  function startPanel(program = 'xfce4-panel', args: readonly string[] = ['--disable-wm-check']): void {
    panel = spawn(program, args, { env: desk.env, cwd: '/', stdio: 'ignore' })
  }
  async function endPanel(): Promise<void> {
    if (panel === undefined || panel.exitCode !== null) return
    const ended = new Promise((end) => panel?.once('exit', end))
    panel.kill('SIGKILL')
    await ended
  }
  const shown = (name = 'screen'): Promise<string[]> =>
    screen.look(join(process.env['DOCMOUNT_PICTURES'] ?? desk.home, `${name}.png`), colours)
  const shows = (icon: keyof typeof colours): Promise<unknown> =>
    waitUntil(`the icon ${icon}`, async () => (await shown()).join() === icon)
  const property = async (dest: string, path: string, name: string): Promise<string> => {
    const [owner, property] = name.split(' ') as [string, string]
    const method = ['--method', 'org.freedesktop.DBus.Properties.Get', owner, property]
    return (await screen.run('gdbus', 'call', '--session', '--dest', dest, '--object-path', path, ...method))
      .stdout
  }
  const watcher = 'org.kde.StatusNotifierWatcher'
  /** Bus names of all items that the tray knows. */
  const items = async (): Promise<string[]> => {
    const known = await property(
      watcher,
      '/StatusNotifierWatcher',
      `${watcher} RegisteredStatusNotifierItems`,
    )
    return [...known.matchAll(/'([^'/]+)\/StatusNotifierItem'/g)].map(([, name = '']) => name)
  }
  async function tooltip(): Promise<string> {
    const [item = ''] = await items()
    return property(item, '/StatusNotifierItem', 'org.kde.StatusNotifierItem ToolTip')
  }
  const says = (words: RegExp): Promise<unknown> =>
    waitUntil(`the tooltip ${words}`, async () => words.test(await tooltip()))
  const layout = async (): Promise<string> => {
    const [item = ''] = await items()
    const method = ['--method', 'com.canonical.dbusmenu.GetLayout', '0', '--', '-1', '[]']
    const at = ['--dest', item, '--object-path', '/StatusNotifierItem/Menu']
    return (await screen.run('gdbus', 'call', '--session', ...at, ...method)).stdout
  }
  const click = (button: string, ...then: readonly string[]): Promise<unknown> =>
    screen.run('xdotool', 'mousemove', x, y, 'sleep', '1', 'click', button, 'sleep', '2', ...then)
  /** Chooses the entry at `position` of the menu, the first that can be chosen being 1, until that is so. */
  async function choose<T>(position: number, isDone: () => Promise<T | false>): Promise<T> {
    const keys = [...Array.from({ length: position }, () => 'Down'), 'Return']
    const pressed = keys.flatMap((key) => ['key', key, 'sleep', '0.5'])
    return waitUntil(`the entry ${position}`, async () => {
      const before = await isDone()
      if (before !== false) return before
      await click('3', ...pressed, 'sleep', '2')
      return isDone()
    })
  }
  const isPaused = async (): Promise<boolean> => {
    const { stdout } = await desk.docmount('status', join(desk.home, 'acme'), '--json')
    return (JSON.parse(stdout) as { isPaused: boolean }).isPaused
  }
  const opened = (): Promise<string> =>
    readFile(join(desk.home, 'opened'), 'utf8').then(
      (text) => text.trim(),
      () => '',
    )
  /** Number of programs that drives started for their items, or to wait for a tray. */
  const helpers = async (): Promise<number> =>
    (await run('ps', ['axeww', '-o', 'args'])).stdout
      .split('\n')
      .filter((line) => /^(?:setpriv .*)?(?:gdbus wait|\S*python3 .*status_item\.py)/.test(line))
      .filter((line) => line.includes(`DBUS_SESSION_BUS_ADDRESS=${desk.env['DBUS_SESSION_BUS_ADDRESS']}`))
      .length

  test('comes with the tray, shows what is sent, waits and is refused, and goes with the drive', async () => {
    const drive = await desk.mount('acme', '--close-wait', '0', '--bwlimit', '40K')
    startPanel()
    await shows('stored')
    await says(/'acme', 'Everything is stored\.'/)
    await inDrive(
      'sh',
      '-c',
      'head -c 1000000 /dev/zero | tr "\\0" x > "$1"',
      'sh',
      join(drive, 'report.txt'),
    )
    await shows('sending')
    await says(/'Sending 1 of 1 \(\d.* of 976\.6 KiB\)\.'/)
    await desk.docmount('bwlimit', '0', drive)
    await shows('stored')
    await desk.testService.stop()
    await desk.save(join(drive, 'plan.txt'), 'a plan')
    await desk.docmount('refresh', drive)
    await shows('waiting')
    await says(/'Waiting for the service\. 1 change waits \(6 bytes\)\.'/)
    await desk.testService.start()
    await shows('stored')
    desk.testService.service.faults.inject({ kind: 'status', status: 413 }, { method: 'PUT', times: 1 })
    await desk.save(join(drive, 'offer <1>_2.txt'), 'an offer')
    await shows('refused')
    await says(/'1 change was refused\.'/)
    expect(await layout()).toMatch(/'Refused last:'.*'\/offer <1>__2\.txt: .*'Send again'/)
    expect(await layout()).not.toMatch(/PUT/)
    await click('3')
    await shown('status-item')
    await screen.run('xdotool', 'key', 'Escape')
    expect(await desk.docmount('unmount', drive)).toMatchObject({ code: 1 })
    await waitUntil('no item', async () => (await items()).length === 0 && (await shown()).length === 0)
  })

  test('opens the folder and the page, pauses and goes on', async () => {
    startPanel()
    const drive = await desk.mount('acme')
    await shows('stored')
    await waitUntil('the folder', async () => {
      await click('1')
      return (await opened()) === drive
    })
    await choose(2, isPaused)
    await shows('waiting')
    await choose(2, async () => !(await isPaused()))
    const address = await choose(3, async () => /^http:.*token=.+/.exec(await opened())?.[0] ?? false)
    expect((await fetch(address, { redirect: 'manual' })).status).toBe(303)
    expect((await desk.docmount('unmount', drive)).code).toBe(0)
    await waitUntil('the page to end', () => fetch(address).then(() => false, () => true)) // prettier-ignore
  })

  test.runIf(isInstalled('lxqt-panel'))("does the same in LXQt's panel", async () => {
    await mkdir(join(desk.home, '.config/lxqt'), { recursive: true })
    await writeFile(join(desk.home, '.config/lxqt/panel.conf'), lxqtSettings)
    startPanel('lxqt-panel', [])
    const drive = await desk.mount('acme')
    await shows('stored')
    await waitUntil('the folder', async () => {
      await click('1')
      return (await opened()) === drive
    })
    await choose(2, isPaused)
    await shows('waiting')
    await choose(2, async () => !(await isPaused()))
    desk.testService.service.faults.inject({ kind: 'status', status: 413 }, { method: 'PUT', times: 1 })
    await desk.save(join(drive, 'offer.txt'), 'an offer')
    await shows('refused')
  })

  test('goes when the daemon is killed, and comes again with another panel; nothing is left running', async () => {
    startPanel()
    const drive = await desk.mount('acme')
    await shows('stored')
    await endPanel()
    startPanel()
    await shows('stored')
    await desk.kill(drive)
    await waitUntil('no item', async () => (await items()).length === 0 && (await shown()).length === 0)
    await waitUntil('no helper', async () => (await helpers()) === 0)
  })

  test('without a tray, or with --no-tray, nothing is shown, logged or left running', async () => {
    const waiting = await desk.mount('waiting')
    await waitUntil('the helper', async () => (await helpers()) === 1)
    await desk.kill(waiting)
    await waitUntil('no helper', async () => (await helpers()) === 0)
    desk.env = { ...screen.env, DBUS_SESSION_BUS_ADDRESS: 'unix:path=/nonexistent' }
    const lonely = await desk.mount('lonely')
    desk.env = screen.env
    await desk.mount('quiet', '--no-tray')
    startPanel()
    await waitUntil('the tray', async () => (await property(watcher, '/StatusNotifierWatcher', `${watcher} IsStatusNotifierHostRegistered`)).includes('true')) // prettier-ignore
    await desk.mount('acme')
    await shows('stored')
    expect(await items()).toHaveLength(1)
    const { logFile = '' } = (await desk.records()).find(({ mountpoint }) => mountpoint === lonely) ?? {}
    expect(await readFile(logFile, 'utf8')).not.toMatch(/status item|"level":"(?:warn|error)"/)
  })
})
