// Emblems and the menu of a drive, in a real Nautilus on a screen and a bus of its own.

import { type ChildProcess, spawn } from 'node:child_process'
import { existsSync, readdirSync } from 'node:fs'
import { mkdir, readFile, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { afterEach, beforeEach, describe, expect, test } from 'vitest'
import { type Desk, startDesk } from '../support/desk.ts'
import { emblemColours, mountWithEmblems } from '../support/emblems.ts'
import { whyNoFuse } from '../support/fuse.ts'
import { isInstalled, type Ran } from '../support/run.ts'
import { screenPrograms, type Screen, startScreen } from '../support/screen.ts'
import { waitUntil } from '../support/wait-until.ts'

const programs = [...screenPrograms, 'nautilus', 'xdotool', 'gdbus']
const bindings = ['extensions-3.0', 'extensions-4'].flatMap((version) =>
  readdirSync('/usr/lib').map((folder) => `/usr/lib/${folder}/nautilus/${version}/libnautilus-python.so`),
)
const whyNot =
  whyNoFuse() ??
  programs.find((program) => !isInstalled(program)) ??
  (bindings.some((file) => existsSync(file)) ? undefined : 'python3-nautilus')

describe.runIf(whyNot === undefined)('Nautilus', () => {
  let desk: Desk
  let screen: Screen
  let manager: ChildProcess | undefined

  beforeEach(async () => {
    desk = await startDesk()
    manager = undefined
    screen = await startScreen(desk.env)
    desk.env = screen.env
    expect(await desk.docmount('desktop', 'install')).toMatchObject({ code: 0, stderr: '' })
  })
  afterEach(async () => {
    if (manager !== undefined && manager.exitCode === null) {
      const ended = new Promise((end) => manager?.once('exit', end))
      manager.kill('SIGKILL')
      await ended
    }
    await desk.close()
    await screen.close()
  })

  function browse(folder: string): void {
    manager = spawn('nautilus', ['--new-window', folder], { env: desk.env, cwd: '/', stdio: 'ignore' })
  }
  const inDesktop = (...command: [string, ...string[]]): Promise<Ran> => screen.run(...command)
  const shown = (file = join(desk.home, 'screen.png')): Promise<string[]> => screen.look(file, emblemColours)
  /** Presses keys in the window: without a window manager, the one that was clicked in has them. */
  const press = (...keys: readonly string[]): Promise<Ran> => {
    const pressed = (key: string): string[] => ['key', key, 'sleep', '0.5']
    const empty = ['mousemove', '560', '480', 'click', '1', 'sleep', '0.5']
    return inDesktop('xdotool', ...['Escape', 'Escape'].flatMap(pressed), ...empty, ...keys.flatMap(pressed))
  }
  /** Chooses the first entry of our menu, for everything that is shown, and gives it time. */
  async function choose(): Promise<void> {
    await press('ctrl+a', 'shift+F10', 'Up', 'Up', 'Return', 'Down', 'Return')
    await inDesktop('sleep', '3')
  }
  /** Mountpoint and path of each pin. */
  const pinsOf = async (drive: string): Promise<string[]> =>
    (JSON.parse((await desk.docmount('pins', drive, '--json')).stdout) as { path: string }[]).map(
      ({ path }) => drive + (path === '/' ? '' : path),
    )

  test('shows an emblem for each state, and takes it away when that is over', async () => {
    const { folder, send, endWaiting } = await mountWithEmblems(desk, 'acme')
    browse(folder)
    await send()
    const picture = join(process.env['DOCMOUNT_PICTURES'] ?? desk.home, 'emblems.png')
    await waitUntil('an emblem for each', async () => (await shown(picture)).length === 5)
    await endWaiting()
    await waitUntil('one less', async () => !(await shown()).includes('waiting'))
    expect(await shown()).toEqual(['sending', 'refused', 'conflict', 'pinned'])
  })

  test('keeps documents on this computer and frees their room, several at once, by its menu', async () => {
    for (const name of ['a', 'b', 'c']) await desk.testService.other.put(`/${name}.txt`, name)
    const drive = await desk.mount('acme')
    await desk.docmount('pin', join(drive, 'a.txt'), '--wait')
    browse(drive)
    await waitUntil('the window', async () => (await shown()).join() === 'pinned')
    await waitUntil('each of them to be pinned', async () => {
      const pinned = await pinsOf(drive)
      // Pressed before everything was selected, the keys opened the folder's own menu.
      if (pinned.includes(drive)) await desk.docmount('unpin', drive)
      else if (pinned.length < 2) await choose()
      return pinned.length === 3
    })
    await waitUntil('the emblem', async () => (await shown()).join() === 'pinned')
    // As long as all of them are pinned, the menu begins with "Free up space".
    await waitUntil('the pins to end', async () => {
      const pinned = await pinsOf(drive)
      if (pinned.length === 3) await choose()
      return pinned.length === 0
    })
    await waitUntil('no emblem', async () => (await shown()).length === 0)
  })

  test('shows the versions of a document by its menu', async () => {
    const programs = join(desk.home, 'bin')
    const opened = join(desk.home, 'opened')
    await mkdir(programs)
    await writeFile(join(programs, 'xdg-open'), `#!/bin/sh\necho "$1" >"${opened}"\n`, { mode: 0o755 })
    desk.env = { ...desk.env, PATH: `${programs}:${desk.env['PATH']}` }
    const drive = await desk.mount('acme', '--undo', '30d')
    await desk.save(join(drive, 'a.txt'), 'the first')
    await desk.save(join(drive, 'a.txt'), 'another')
    await desk.docmount('wait', drive)
    await desk.docmount('pin', join(drive, 'a.txt'), '--wait')
    browse(drive)
    await waitUntil('the window', async () => (await shown()).join() === 'pinned')
    const picture = join(process.env['DOCMOUNT_PICTURES'] ?? desk.home, 'menu.png')
    await waitUntil('the page', async () => {
      // Two entries come before it: "Free up space" and "Show status".
      await press('ctrl+a', 'shift+F10', 'Up', 'Up', 'Return', 'Down', 'Down', 'Down')
      await shown(picture)
      await inDesktop('xdotool', 'key', 'Return', 'sleep', '3')
      return existsSync(opened)
    })
    expect(await readFile(opened, 'utf8')).toMatch(/^http:\/\/127\.0\.0\.1:\d+\/\?token=\S+#undo-\w+\n$/)
  })

  test('goes on while the drive hangs, and asks for nothing elsewhere', async () => {
    await desk.testService.other.put('/a.txt', 'a')
    const drive = await desk.mount('acme')
    await desk.docmount('pin', join(drive, 'a.txt'), '--wait')
    browse(drive)
    await waitUntil('the emblem', async () => (await shown()).includes('pinned'))
    const [record] = await desk.living()
    process.kill(record?.pid ?? 0, 'SIGSTOP')
    try {
      await press('ctrl+a', 'shift+F10')
      const asked = ['--session', '--dest', 'org.gnome.Nautilus', '--object-path', '/org/gnome/Nautilus']
      const answer = await inDesktop('gdbus', 'call', ...asked, '--method', 'org.gtk.Actions.List')
      expect(answer).toMatchObject({ code: 0 })
    } finally {
      process.kill(record?.pid ?? 0, 'SIGCONT')
    }
  })

  test('has nothing of it after docmount desktop remove', async () => {
    const extension = join(desk.home, '.local/share/nautilus-python/extensions/docmount.py')
    expect(await readFile(extension, 'utf8')).toContain(`COMMAND = ["${process.execPath}",`)
    expect(await desk.docmount('desktop', 'remove')).toMatchObject({ code: 0, stderr: '' })
    expect(existsSync(extension)).toBe(false)
    const left = readdirSync(join(desk.home, '.local/share'), { recursive: true, encoding: 'utf8' })
    expect(left.filter((name) => name.includes('docmount'))).toEqual([])
  })
})
