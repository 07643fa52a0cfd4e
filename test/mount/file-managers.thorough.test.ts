// Emblems, the menu and the trash of a drive in Nemo, Caja, Thunar and Dolphin, each of which is left out where it is missing.
// $DOCMOUNT_PICTURES names a folder for the pictures.

import { type ChildProcess, spawn } from 'node:child_process'
import { existsSync, readdirSync } from 'node:fs'
import { mkdir, readFile, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { afterAll, afterEach, beforeAll, describe, expect, test } from 'vitest'
import { type Desk, inDrive, startDesk } from '../support/desk.ts'
import { emblemColours, mountWithEmblems } from '../support/emblems.ts'
import { whyNoFuse } from '../support/fuse.ts'
import { isInstalled } from '../support/run.ts'
import { screenPrograms, type Screen, startScreen } from '../support/screen.ts'
import { waitUntil } from '../support/wait-until.ts'

/** Below /usr/lib/PROCESSOR. */
const screenReader = 'girepository-1.0/Atspi-2.0.typelib'
const labels = [
  'Keep on this computer',
  'Free up space',
  'Send now',
  'Show status',
  'Restore previous version…',
  'Copy link',
] as const
const name = `Müller's "plan" 100%.txt`
const names = [name, '-dash #1?.txt', 'a b.txt']
type Label = (typeof labels)[number]

interface Manager {
  readonly program: string
  readonly args: readonly string[]
  /** Files that load extensions in Python, below /usr/lib/PROCESSOR. None: it knows no emblems and its menu by key presses alone. */
  readonly bindings: readonly string[]
  readonly hasEmblems: boolean
  /** A place in its window where nothing is. */
  readonly empty: readonly [string, string]
  readonly trash: string
}

const managers: readonly Manager[] = [
  {
    program: 'nemo',
    args: ['--no-desktop'],
    bindings: ['nemo/extensions-3.0/libnemo-python.so'],
    hasEmblems: true,
    empty: ['500', '450'],
    trash: 'trash:///',
  },
  {
    program: 'caja',
    args: ['--no-desktop', '--browser'],
    bindings: ['caja/extensions-2.0/libcaja-python.so'],
    hasEmblems: true,
    empty: ['500', '450'],
    trash: 'trash:///',
  },
  {
    program: 'thunar',
    args: [],
    bindings: ['thunarx-3/thunarx-python.so', 'girepository-1.0/Thunarx-3.0.typelib'],
    hasEmblems: false,
    empty: ['600', '380'],
    trash: 'trash:///',
  },
  {
    program: 'dolphin',
    args: ['--new-window'],
    bindings: [],
    hasEmblems: false,
    empty: ['640', '310'],
    trash: 'trash:/',
  },
]

const isThere = (file: string): boolean =>
  readdirSync('/usr/lib').some((folder) => existsSync(join('/usr/lib', folder, file)))
const programs = [...screenPrograms, 'xdotool', 'xclip']
const whyNot = whyNoFuse() ?? programs.find((program) => !isInstalled(program))

describe.runIf(whyNot === undefined && isThere(screenReader))('a file manager', () => {
  let desk: Desk
  let screen: Screen
  let drive: string
  let running: ChildProcess | undefined
  let emblems: ReturnType<typeof mountWithEmblems> | undefined

  beforeAll(async () => {
    desk = await startDesk()
    const bin = join(desk.home, 'bin')
    await mkdir(bin)
    for (const [program, argument] of [
      ['xdg-open', '$1'],
      ['notify-send', '$*'],
    ] as const)
      // prettier-ignore
      await writeFile(join(bin, program), `#!/bin/sh\necho "${argument}" >>"${desk.home}/${program}"\n`, {
        mode: 0o755,
      })
    screen = await startScreen({ ...desk.env, PATH: `${bin}:${desk.env['PATH']}` })
    desk.env = screen.env
    expect((await desk.docmount('desktop', 'install')).stderr).toBe('')
    for (const { program } of managers)
      for (const [folder, among] of Object.entries({ several: names, one: [name], trash: [name] }))
        for (const each of among) await desk.testService.other.put(`/${program}/${folder}/${each}`, 'first')
    drive = await desk.mount('drive', '--undo', '30d')
  })
  afterEach(close)
  afterAll(async () => {
    await desk.close()
    await screen.close()
  })

  async function close(): Promise<void> {
    if (running !== undefined && running.exitCode === null && running.signalCode === null) {
      const ended = new Promise((end) => running?.once('exit', end))
      running.kill('SIGKILL')
      await ended
    }
    running = undefined
  }
  async function browse({ program, args }: Manager, place: string): Promise<void> {
    await close()
    // A window without a window manager has the keys once it was clicked in.
    await waitUntil('the window', async () => {
      // Started again if it ended: it hands over to the one before, as long as the session bus takes that for alive.
      if (running === undefined || running.exitCode !== null)
        running = spawn(program, [...args, place], { env: desk.env, cwd: '/', stdio: 'ignore' })
      const { stdout } = await screen.run('xdotool', 'search', '--onlyvisible', '--class', program)
      return stdout !== ''
    })
  }
  const press = (...keys: readonly string[]): Promise<unknown> =>
    screen.run('xdotool', ...keys.flatMap((key) => ['key', key, 'sleep', '0.4']))
  const clickOn = (...[x, y]: readonly [string, string]): Promise<unknown> =>
    screen.run('xdotool', 'mousemove', x, y, 'sleep', '0.4', 'click', '1', 'sleep', '0.6')
  /** Selects everything that the window shows. */
  async function select({ bindings, empty }: Manager): Promise<void> {
    // Closes menus. Escape would end the loading of a folder in Dolphin.
    await (bindings.length > 0 ? press('Escape', 'Escape') : clickOn(...empty))
    await clickOn(...empty)
    await press('ctrl+a')
  }
  /** Clicks on a widget. False if it is not shown. */
  async function clickOnWidget(name: string): Promise<boolean> {
    const widget = (await screen.widgets()).find((shown) => shown.name === name)
    if (widget === undefined) return false
    await clickOn(`${widget.x}`, `${widget.y}`)
    return true
  }
  /** Opens the menu of what is selected, with our menu in it. False if it has none. */
  async function openMenu(manager: Manager): Promise<boolean> {
    await select(manager)
    await press(manager.bindings.length > 0 ? 'shift+F10' : 'Menu')
    if (manager.bindings.length > 0) return clickOnWidget('Document drive')
    // Our menu is the last but one of Dolphin's.
    await press('Up', 'Up', 'Right')
    return true
  }
  /** Does `act` until `isDone`: keys and clicks get lost as long as a window is made. */
  async function repeat(
    what: string,
    isDone: () => Promise<boolean>,
    act: () => Promise<unknown>,
  ): Promise<void> {
    await waitUntil(what, async () => {
      if (await isDone()) return true
      await act()
      return waitUntil(what, isDone, 4_000).catch(() => false)
    })
  }
  /** Chooses an entry of our menu for everything that the window shows, until that is done. */
  const choose = (manager: Manager, label: Label, isDone: () => Promise<boolean>): Promise<void> =>
    repeat(label, isDone, async () => {
      if (!(await openMenu(manager))) return
      if (manager.bindings.length > 0) await clickOnWidget(label)
      else await press(...Array.from({ length: labels.indexOf(label) }, () => 'Down'), 'Return')
    })

  /** Arguments of all calls of a stand-in, one call a line. */
  const calledWith = (program: string): Promise<string> =>
    readFile(join(desk.home, program), 'utf8').catch(() => '')
  /** Paths of the pins in the folder of a file manager. */
  async function pins({ program }: Manager): Promise<string[]> {
    const { stdout } = await desk.docmount('pins', drive, '--json')
    const paths = (JSON.parse(stdout) as { path: string }[]).map(({ path }) => path)
    return paths.filter((path) => path.startsWith(`/${program}/`)).toSorted()
  }
  const inService = async (path: string): Promise<boolean> =>
    (await desk.testService.other.documents('/'))?.has(path) === true

  describe.each(managers)('$program', (manager) => {
    const { program, bindings, hasEmblems, trash } = manager
    const isTried = isInstalled(program) && bindings.every(isThere)

    test.runIf(isTried && hasEmblems)(
      'shows an emblem for each state, and takes it away when that is over',
      async () => {
        emblems ??= mountWithEmblems(desk, 'emblems')
        const { folder, send } = await emblems
        await browse(manager, folder)
        await send()
        const picture = join(process.env['DOCMOUNT_PICTURES'] ?? desk.home, `${program}.png`)
        const shown = (): Promise<string[]> => screen.look(picture, emblemColours)
        await waitUntil('an emblem for each', async () => (await shown()).length === 5)
        const pinned = join(folder, 'Pinned minutes.txt')
        await desk.docmount('unpin', pinned)
        await waitUntil('one less', async () => !(await shown()).includes('pinned'))
        expect(await shown()).toEqual(['sending', 'waiting', 'refused', 'conflict'])
        await desk.docmount('pin', pinned, '--wait')
      },
    )

    test.runIf(isTried)('has a menu whose entries do what they say, for names of any kind', async () => {
      const one = join(drive, program, 'one')
      // A version is kept if it was here.
      await inDrive('cat', join(one, name))
      await desk.save(join(one, name), 'second')
      await desk.docmount('wait', drive)

      await browse(manager, join(drive, program, 'several'))
      await choose(
        manager,
        'Keep on this computer',
        async () => (await pins(manager)).length === names.length,
      )
      expect(await pins(manager)).toEqual(names.map((name) => `/${program}/several/${name}`).toSorted())
      const isMarked = async (): Promise<boolean> =>
        (await screen.look(join(desk.home, 'screen.png'), emblemColours)).includes('pinned')
      if (hasEmblems) await waitUntil('the emblems', isMarked)
      const told = (await calledWith('notify-send')).length
      await choose(manager, 'Show status', async () => {
        const status = (await calledWith('notify-send')).slice(told)
        return names.every((each) => status.includes(`${each}  with the service since`))
      })
      await choose(manager, 'Free up space', async () => (await pins(manager)).length === 0)

      await browse(manager, one)
      await choose(manager, 'Copy link', async () => {
        const { stdout } = await screen.run('xclip', '-o', '-selection', 'clipboard')
        const address = /^http\S+\/download\/\S+$/.exec(stdout)?.[0]
        return address !== undefined && (await (await fetch(address)).text()) === 'second'
      })
      const before = (await calledWith('xdg-open')).length
      await choose(manager, 'Restore previous version…', async () => {
        const opened = (await calledWith('xdg-open')).slice(before)
        return /^http:\/\/127\.0\.0\.1:\d+\/\?token=\S+#undo-\w+\n/.test(opened)
      })
    })

    test.runIf(isTried && bindings.length > 0)('has no menu outside drives', async () => {
      const elsewhere = join(desk.home, 'elsewhere')
      await mkdir(elsewhere, { recursive: true })
      await writeFile(join(elsewhere, 'other.txt'), 'other')
      await browse(manager, elsewhere)
      const shown = await waitUntil('its menu', async () => {
        await select(manager)
        await press('shift+F10')
        const labels = (await screen.widgets()).map(({ name }) => name)
        return labels.includes('Move to Trash') && labels
      })
      expect(shown).not.toContain('Document drive')
    })

    test.runIf(isTried)('moves a document into the trash, and restores it', async () => {
      const path = `${program}/trash/${name}`
      await browse(manager, join(drive, program, 'trash'))
      await repeat('the trash', async () => !(await inService(path)), async () => {
        await select(manager)
        await press('Delete')
      }) // prettier-ignore
      await browse(manager, trash)
      await repeat('the document', () => inService(path), async () => {
        await select(manager)
        await press(bindings.length > 0 ? 'shift+F10' : 'Menu')
        if (bindings.length > 0) await clickOnWidget('Restore')
        else await press('Down', 'Down', 'Return')
      }) // prettier-ignore
      expect((await desk.testService.other.documents('/'))?.get(path)?.toString()).toBe('first')
      // A page with versions that was closed meanwhile has nothing to tell.
      expect(await calledWith('notify-send')).not.toMatch(/-- docmount $/m)
    })
  })
})

test('docmount desktop install names the packages that a file manager lacks', async () => {
  const desk = await startDesk()
  try {
    const bin = join(desk.home, 'bin')
    await mkdir(bin)
    const installed = ['thunar', 'thunarx-python', 'python3-gi', 'nemo', 'nemo-python']
    const lines = installed.map((name) => `echo ${name} installed`)
    await writeFile(join(bin, 'dpkg-query'), `#!/bin/sh\n${lines.join('\n')}\nexit 1\n`, { mode: 0o755 })
    desk.env = { ...desk.env, PATH: `${bin}:${desk.env['PATH']}` }
    const { stdout } = await desk.docmount('desktop', 'install')
    expect(stdout.split('\n').slice(1)).toEqual([
      'thunar shows nothing of it without: apt install gir1.2-thunarx-3.0',
      '',
    ])
  } finally {
    await desk.close()
  }
})
