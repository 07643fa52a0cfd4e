// Real programs at work through both doors of one drive, in the same folders and under the same names, while the service is away,
// slow or cut off now and then, and the daemon is killed. Each knows what it was answered; what may be there follows (history.ts).

import { mkdir, readFile, readdir, writeFile } from 'node:fs/promises'
import { dirname, join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'

import { ask } from '../../src/daemon/control-client.ts'
import type { Unsent } from '../../src/fs/status.ts'
import { startAgent, type Agent } from '../support/agent.ts'
import { socketOf } from '../support/ask-daemon.ts'
import { startFlakyProxy, type FlakyProxy } from '../support/flaky-proxy.ts'
import { folderDoor } from '../support/folder-door.ts'
import { otherClient } from '../support/other-client.ts'
import { run, type Ran } from '../support/run.ts'
import { startServiceProcess, type ServiceProcess } from '../support/service-process.ts'
import { project } from '../support/service.ts'
import { driveTree, serviceTree } from '../support/trees.ts'
import { waitUntil } from '../support/wait-until.ts'
import { startWebdavDrive, type WebdavDrive } from '../support/webdav-drive.ts'
import { chance, type Chance } from './chance.ts'
import * as programs from './door-programs.ts'
import { History, type Change } from './history.ts'
import { Loss } from './loss.ts'

export interface BothDoorsOptions {
  /** For everything: the service, state, cache and mountpoint. */
  readonly folder: string
  readonly seed: number
  readonly durationMs: number
  /** Between two troubles, on average. */
  readonly troubleEveryMs: number
  readonly killEveryMs: number
  readonly quietEveryMs: number
  /** How long programs work in peace after it was quiet. */
  readonly peaceMs: number
  readonly onProgress?: (figures: Figures) => void
}

export interface Figures {
  /** How often each program was run, and how often it failed. */
  readonly programs: Readonly<Record<string, { runs: number; failed: number }>>
  readonly troubles: Readonly<Record<string, number>>
  readonly kills: number
  /** Times everything was left alone until it was quiet, and compared. */
  readonly quiet: number
}

const folders = ['/desk', '/desk/in ner']
const pairs = ['/here', '/there'] as const
const pairNames = ['one.txt', 'two.csv', 'three.txt']
const sharedPaths = folders.flatMap((folder) =>
  ['a.txt', 'b.txt', 'c.csv', 'ü d.txt'].map((name) => `${folder}/shared ${name}`),
)
/** Programs' files beside a document, left where they were cut off. */
const isLeftBeside = (path: string): boolean =>
  /\/(\.[^/]*|[^/]*~|4913|sed\w{6}|part-\d+\.part\.txt)$/.test(path)
/** The longest pause between two attempts after some trouble, a minute for what is left of programs that were cut off, and the sending. */
const quietWithinMs = 240_000
/** After a trouble ended the drive is given so long to find that out. */
const afterTroubleMs = 30_000
const ownActors = 5
const sharingActors = 5

/** Resolves with what was done when everything is as it must be; throws a Loss with what led to it otherwise. */
export async function workAtBothDoors(options: BothDoorsOptions): Promise<Figures> {
  const run_ = await BothDoorsRun.start(options)
  try {
    return await run_.work()
  } finally {
    await run_.remove()
  }
}

class BothDoorsRun {
  readonly #options: BothDoorsOptions
  readonly #luck: Chance
  readonly #service: ServiceProcess
  readonly #proxy: FlakyProxy
  readonly #history = new History(() => performance.now())
  readonly #over = new AbortController()
  readonly #programs: Record<string, { runs: number; failed: number }> = {}
  readonly #troubles: Record<string, number> = {}
  readonly #story: { at: number; line: string }[] = []
  readonly #logs: string[] = []
  /** Times of trouble; the last may go on. */
  readonly #bad: { from: number; until: number }[] = []
  #drive: WebdavDrive | undefined
  #doors: programs.BothDoors = { mountpoint: '', url: '', curlConfig: '', rclone: {} }
  #agent: Agent | undefined
  #ready: Promise<void> = Promise.resolve()
  #working = 0
  #lastMark = 0
  #kills = 0
  #quiet = 0

  static async start(options: BothDoorsOptions): Promise<BothDoorsRun> {
    const { folder } = options
    await mkdir(join(folder, 'service'))
    await mkdir(join(folder, 'saved'))
    const service = await startServiceProcess(join(folder, 'service'), join(folder, 'access.log'))
    const proxy = await startFlakyProxy({ targetPort: service.port })
    return new BothDoorsRun(options, service, proxy)
  }

  constructor(options: BothDoorsOptions, service: ServiceProcess, proxy: FlakyProxy) {
    this.#options = options
    this.#service = service
    this.#proxy = proxy
    this.#luck = chance(options.seed)
  }

  get figures(): Figures {
    return { programs: this.#programs, troubles: this.#troubles, kills: this.#kills, quiet: this.#quiet }
  }

  async work(): Promise<Figures> {
    await this.#mount()
    try {
      for (const folder of [...folders, pairs[0]]) await this.#calls.mkdir(folder)
      const { seed } = this.#options
      const all = [
        ...Array.from({ length: ownActors }, (_, index) =>
          this.#workAlone(index, chance(seed * 1000 + index)),
        ),
        ...Array.from({ length: sharingActors }, (_, index) =>
          this.#share(`sharing ${index}`, chance(seed * 1000 + 100 + index)),
        ),
        this.#shareFolders('folders', chance(seed * 1000 + 200)),
        this.#trouble(),
      ]
      await Promise.all(all).catch(async (error: unknown) => {
        this.#over.abort()
        await Promise.allSettled(all)
        throw error
      })
      await this.#leaveAlone()
      await this.#end()
      return this.figures
    } catch (error) {
      throw await this.#explained(error as Error)
    }
  }

  async remove(): Promise<void> {
    this.#agent?.stop()
    await this.#drive?.remove()
    await this.#proxy.close()
    await this.#service.end('SIGKILL')
  }

  // The drive

  async #mount(): Promise<void> {
    const { folder } = this.#options
    const port = this.#doors.url === '' ? 0 : Number(new URL(this.#doors.url).port)
    const drive = await startWebdavDrive({
      folder,
      baseUrl: `http://127.0.0.1:${this.#proxy.port}/api`,
      apiKey: this.#service.apiKey,
      isMounted: true,
      args: ['--webdav', `127.0.0.1:${port}`],
    })
    this.#drive = drive
    const { url, user, password, mountpoint } = drive
    const curlConfig = join(folder, 'curl')
    await writeFile(curlConfig, `user = "${user}:${password}"\n`, { mode: 0o600 })
    const obscured = (await run('rclone', ['obscure', password])).stdout.trim()
    const rclone = {
      RCLONE_CONFIG_DRIVE_TYPE: 'webdav',
      RCLONE_CONFIG_DRIVE_VENDOR: 'other',
      RCLONE_CONFIG_DRIVE_URL: url,
      RCLONE_CONFIG_DRIVE_USER: user,
      RCLONE_CONFIG_DRIVE_PASS: obscured,
    }
    this.#doors = { mountpoint, url, curlConfig, rclone }
    this.#agent = startAgent()
  }

  get #calls(): ReturnType<typeof folderDoor> {
    return folderDoor('kernel', this.#doors.mountpoint, this.#agent as Agent)
  }

  async #unsent(): Promise<readonly Unsent[]> {
    return (await ask(await socketOf(this.#options.folder), 'status', { path: '/' })).unsent
  }

  // Programs

  /** Names of its own, beside those of others: it knows at all times what is there. */
  async #workAlone(index: number, luck: Chance): Promise<void> {
    const paths = folders.flatMap((folder) =>
      ['a.txt', 'b.csv'].map((name) => `${folder}/own ${index} ${name}`),
    )
    await this.#again(luck, async () => {
      const [path, other] = [luck.pick(paths), luck.pick(paths)]
      const now = this.#history.certain(path)
      const isThere = now !== 'in doubt' && now.value !== undefined
      const kind = luck.weighted({ save: 40, edit: 20, move: 10, copy: 6, remove: 6, read: 25, list: 8 })
      if (kind === 'list') return this.#list(luck, index, dirname(path))
      if (kind === 'read') return this.#read(luck, path, true)
      if (kind === 'save' || !isThere || path === other) return this.#save(luck, path, true)
      if (kind === 'edit') return this.#edit(luck, path, this.#history.contentOf(now.value))
      if (kind === 'remove') return this.#remove(luck, path, true)
      return this.#fromTo(luck.pick(kind === 'move' ? programs.movers : programs.copiers), path, other, {
        isMove: kind === 'move',
        isAlone: true,
      })
    })
  }

  /** Names that all save, move, copy and remove. */
  async #share(_name: string, luck: Chance): Promise<void> {
    await this.#again(luck, async () => {
      const [path, other] = [luck.pick(sharedPaths), luck.pick(sharedPaths)]
      const kind = luck.weighted({ save: 50, move: 20, copy: 6, remove: 6, read: 20 })
      if (kind === 'read') return this.#read(luck, path, false)
      if (kind === 'remove') return this.#remove(luck, path, false)
      if (kind === 'save' || path === other) return this.#save(luck, path, false)
      return this.#fromTo(luck.pick(kind === 'move' ? programs.movers : programs.copiers), path, other, {
        isMove: kind === 'move',
        isAlone: false,
      })
    })
  }

  /** A folder that has the one or the other name, and what is in it. */
  async #shareFolders(_name: string, luck: Chance): Promise<void> {
    await this.#again(luck, async () => {
      const path = `${luck.pick(pairs)}/${luck.pick(pairNames)}`
      const kind = luck.weighted({ save: 50, move: 20, read: 20 })
      if (kind === 'read') return this.#read(luck, path, false)
      if (kind === 'save') return this.#save(luck, path, false)
      const [from, to] = luck.random() < 0.5 ? pairs : [pairs[1], pairs[0]]
      const mover = luck.pick(programs.folderMovers)
      const changes = pairNames.flatMap((name) => [
        this.#change(mover.name, `${to}/${name}`, { from: `${from}/${name}`, orNothing: true }, false),
        this.#change(mover.name, `${from}/${name}`, { value: undefined }, false),
      ])
      const line = mover.line(this.#doors, from, to)
      await this.#perform(mover.name, line, changes, false)
    })
  }

  async #again(luck: Chance, act: () => Promise<void>): Promise<void> {
    while (!this.#over.signal.aborted) {
      await this.#ready
      if (this.#over.signal.aborted) return
      this.#working++
      try {
        await act()
      } finally {
        this.#working--
      }
      await sleep(luck.below(150))
    }
  }

  #change(program: string, path: string, becomes: Change['becomes'], isInPlace: boolean): Change {
    return this.#history.begin({ program, path, becomes, isInPlace })
  }

  async #save(luck: Chance, path: string, isAlone: boolean): Promise<void> {
    const mark = ++this.#lastMark
    const isOfPair = pairs.some((folder) => path.startsWith(`${folder}/`))
    const saver = luck.pick(
      programs.savers.filter(
        ({ makesFolders = false, isForOne = false }) => !(isOfPair && makesFolders) && (isAlone || !isForOne),
      ),
    )
    const file = join(this.#options.folder, 'saved', String(mark), path.slice(path.lastIndexOf('/') + 1))
    const content = this.#content(luck, mark)
    await mkdir(dirname(file))
    await writeFile(file, content)
    const id = this.#history.addContent(`${mark}-${saver.name}`, content)
    const change = this.#change(saver.name, path, { value: id }, saver.isInPlace)
    const line = saver.line(this.#doors, path, file, mark)
    await this.#perform(saver.name, line, [change], isAlone)
    await run('rm', ['-r', dirname(file)])
  }

  async #edit(luck: Chance, path: string, before: Buffer): Promise<void> {
    const mark = ++this.#lastMark
    const editor = luck.pick(programs.editors)
    const words = `${mark} by ${editor.name} `.replaceAll(/[^\w ]/g, '').padEnd(63, '-')
    const id = this.#history.addContent(`${mark}-${editor.name}`, editor.edited(before, words))
    const change = this.#change(editor.name, path, { value: id }, true)
    await this.#perform(editor.name, editor.line(this.#doors, path, words), [change], true)
  }

  async #remove(luck: Chance, path: string, isAlone: boolean): Promise<void> {
    const remover = luck.pick(programs.removers)
    const change = this.#change(remover.name, path, { value: undefined }, false)
    await this.#perform(remover.name, remover.line(this.#doors, path), [change], isAlone)
  }

  async #fromTo(
    program: programs.TwoNames,
    from: string,
    to: string,
    { isMove, isAlone }: { isMove: boolean; isAlone: boolean },
  ): Promise<void> {
    const changes = [this.#change(program.name, to, { from, orNothing: false }, program.isInPlace)]
    if (isMove) changes.push(this.#change(program.name, from, { value: undefined }, false))
    await this.#perform(program.name, program.line(this.#doors, from, to), changes, isAlone)
  }

  /** Runs a program that changes something. Alone and in peace it must not fail. */
  async #perform(
    name: string,
    line: Parameters<typeof programs.performed>[0],
    changes: readonly Change[],
    isAlone: boolean,
  ): Promise<void> {
    const from = performance.now()
    const ran = await programs.performed(line)
    const { outcome, said } = programs.outcomeOf(line, ran, name.startsWith('curl'))
    for (const change of changes) this.#history.end(change, outcome)
    const how = outcome === 'done' ? 'done' : `${outcome}: ${said}`
    this.#tell(`${name} ${changes.map(({ path }) => path).join(' ')}: ${how}`)
    this.#count(name, outcome === 'done')
    if (outcome !== 'done' && isAlone && this.#isPeace(from))
      throw new Loss(`${changes[0]?.path}: ${name} failed in peace: ${said}`)
  }

  async #read(luck: Chance, path: string, isAlone: boolean): Promise<void> {
    const from = performance.now()
    const reader = luck.pick(programs.readers)
    const ran = await programs.performed(reader.line(this.#doors, path))
    const to = performance.now()
    const isMissing = ran.code !== 0 && reader.isMissing(ran)
    this.#count(reader.name, ran.code === 0 || isMissing)
    if (ran.code === 0 || isMissing) {
      const wrong = this.#history.wrong(path, isMissing ? undefined : Buffer.from(ran.stdout), from, to)
      // A dead mount is an empty folder, or none.
      if (wrong !== undefined && !(isMissing && this.#wasKilledSince(from)))
        throw new Loss(`${reader.name}: ${wrong}`)
    } else if (isAlone && this.#isPeace(from) && reader.name !== 'rclone cat')
      throw new Loss(`${path}: ${reader.name} failed in peace: exit code ${ran.code}: ${ran.stderr}`)
  }

  /** Names of its own are in the listing of either door, or are not. */
  async #list(luck: Chance, index: number, folder: string): Promise<void> {
    const from = performance.now()
    const isByMount = luck.random() < 0.5
    const { curlConfig, url } = this.#doors
    const ran: Ran = await programs.performed({
      argv: isByMount
        ? ['ls', programs.at(this.#doors, folder)]
        : [
            'curl',
            '-sS',
            '-f',
            '-K',
            curlConfig,
            '-X',
            'PROPFIND',
            '-H',
            'Depth: 1',
            url + encodeURI(folder),
          ],
    })
    const name = isByMount ? 'ls' : 'curl, PROPFIND'
    this.#count(name, ran.code === 0)
    if (ran.code !== 0) {
      if (this.#isPeace(from)) throw new Loss(`${folder}: ${name} failed in peace: ${ran.stderr}`)
      return
    }
    if (this.#wasKilledSince(from)) return
    for (const path of this.#history.paths) {
      if (!path.startsWith(`${folder}/own ${index} `)) continue
      const certain = this.#history.certain(path)
      if (certain === 'in doubt') continue
      const isListed = isByMount
        ? ran.stdout.split('\n').includes(path.slice(folder.length + 1))
        : ran.stdout.includes(`${encodeURI(path)}<`)
      if (isListed !== (certain.value !== undefined))
        throw new Loss(`${path}: ${name} ${isListed ? 'lists' : 'does not list'} it: ${ran.stdout}`)
    }
  }

  /** Lines of 64 bytes, each known by its document and place. */
  #content(luck: Chance, mark: number): Buffer {
    const lines = luck.weighted({ few: 60, some: 30, many: 9, huge: 1 })
    const count = 1 + luck.below({ few: 8, some: 300, many: 3000, huge: 20_000 }[lines])
    return Buffer.from(
      Array.from({ length: count }, (_, at) => `${`${mark} line ${at} `.padEnd(63, '.')}\n`).join(''),
    )
  }

  #count(name: string, isDone: boolean): void {
    const { runs, failed } = this.#programs[name] ?? { runs: 0, failed: 0 }
    this.#programs[name] = { runs: runs + 1, failed: failed + (isDone ? 0 : 1) }
  }

  // Trouble

  async #trouble(): Promise<void> {
    const { durationMs, killEveryMs, peaceMs, quietEveryMs, troubleEveryMs } = this.#options
    const luck = this.#luck
    const begun = performance.now()
    const around = (ms: number): number => ms * (0.5 + luck.random())
    let [nextKill, nextQuiet] = [begun + around(killEveryMs), begun + around(quietEveryMs)]
    while (performance.now() < begun + durationMs && !this.#over.signal.aborted) {
      await this.#pause(around(troubleEveryMs))
      if (this.#over.signal.aborted) return
      const now = performance.now()
      if (now > nextQuiet) {
        await this.#stopped(() => this.#leaveAlone())
        await this.#pause(peaceMs)
        nextQuiet = performance.now() + around(quietEveryMs)
      } else if (now > nextKill) {
        await this.#kill(luck.random() < 0.3)
        nextKill = performance.now() + around(killEveryMs)
      } else await this.#outage()
    }
    this.#over.abort()
  }

  async #outage(): Promise<void> {
    const luck = this.#luck
    const kind = luck.pick(['stopped', 'killed', 'silent', 'slow', 'cut off'] as const)
    const ms = 1000 + luck.below(kind === 'slow' ? 20_000 : 10_000)
    this.#troubles[kind] = (this.#troubles[kind] ?? 0) + 1
    await this.#during(`the service is ${kind} for ${ms} ms`, async () => {
      if (kind === 'stopped' || kind === 'killed') {
        await this.#service.end(kind === 'stopped' ? 'SIGTERM' : 'SIGKILL')
        await this.#pause(ms)
        await this.#service.start()
      } else {
        if (kind === 'silent') this.#proxy.isBlackhole = true
        else if (kind === 'slow') this.#proxy.latencyMs = 200 + luck.below(1500)
        else this.#proxy.cutAfterBytes = 100 + luck.below(30_000)
        await this.#pause(ms)
        this.#proxy.isBlackhole = false
        this.#proxy.latencyMs = 0
        this.#proxy.cutAfterBytes = undefined
      }
    })
  }

  /** kill -9 of the daemon, and a new mount; in some cases while the service is away. */
  async #kill(isAway: boolean): Promise<void> {
    const drive = this.#drive as WebdavDrive
    await this.#during(`kill -9 of the daemon${isAway ? ', without the service' : ''}`, () =>
      this.#stopped(async () => {
        if (isAway) await this.#service.end('SIGKILL')
        drive.signal('SIGKILL')
        this.#kills++
        await drive.ended
        this.#logs.push(drive.log())
        this.#agent?.stop()
        if (!isAway || this.#luck.random() < 0.5) await this.#service.start()
        await this.#mount()
        this.#tell('mounted again')
        await this.#service.start()
      }),
    )
  }

  /** No program begins meanwhile. */
  async #stopped(body: () => Promise<void>): Promise<void> {
    let goOn: () => void = () => {}
    this.#ready = new Promise((resolve) => {
      goOn = resolve
    })
    try {
      await body()
    } finally {
      goOn()
    }
  }

  async #during(what: string, body: () => Promise<void>): Promise<void> {
    const times = { from: performance.now(), until: Infinity }
    this.#bad.push(times)
    this.#tell(what)
    await body()
    times.until = performance.now()
    this.#tell('over')
  }

  async #pause(ms: number): Promise<void> {
    this.#options.onProgress?.(this.figures)
    await sleep(ms, undefined, { signal: this.#over.signal }).catch(() => {})
  }

  /** Since some time before `from` nothing was wrong. */
  #isPeace(from: number): boolean {
    return this.#bad.every(({ until }) => until < from - afterTroubleMs)
  }

  #wasKilledSince(from: number): boolean {
    return this.#story.some(({ at, line }) => line.startsWith('kill -9') && at >= from - 10_000)
  }

  // Quiet

  /** Nothing helps: it has to send everything, and both doors and the service have to hold the same, which someone saved last. */
  async #leaveAlone(): Promise<void> {
    this.#tell('left alone')
    await waitUntil('the programs to pause', () => this.#working === 0, programs.programLimitMs + 10_000)
    await waitUntil(
      'the drive to become quiet by itself',
      async () => (await this.#unsent()).length === 0,
      quietWithinMs,
    )
    const now = performance.now()
    const shown = documents(await driveTree(this.#calls, ''))
    const other = otherClient(`http://127.0.0.1:${this.#service.port}/api`, project, this.#service.apiKey)
    const held = documents(await serviceTree(other, ''))
    const wrong: string[] = []
    const known = new Set(this.#history.paths)
    for (const path of new Set([...known, ...shown.keys(), ...held.keys()])) {
      if (isLeftBeside(path)) continue
      if (!known.has(path))
        wrong.push(
          `${path} is there, which no program made: ${this.#history.describe(shown.get(path) ?? held.get(path))}`,
        )
      const [here, there] = [shown.get(path), held.get(path)]
      const notSaved = known.has(path) ? this.#history.wrong(path, here, now) : undefined
      if (notSaved !== undefined) wrong.push(notSaved)
      if (!isSame(here, there))
        wrong.push(
          `${path}: the mount shows ${this.#history.describe(here)}, the service holds ${this.#history.describe(there)}`,
        )
      const byWebdav = await (this.#drive as WebdavDrive).ask('GET', encodeURI(path))
      if (!isSame(here, byWebdav.status === 404 ? undefined : Buffer.from(byWebdav.text)))
        wrong.push(
          `${path}: the mount shows ${this.#history.describe(here)}, WebDAV answers ${byWebdav.status} ${byWebdav.text.slice(0, 100)}`,
        )
    }
    const { conflicts } = await (this.#drive as WebdavDrive).status()
    if (conflicts > 0) wrong.push(`${conflicts} conflict copies were made, and there is no other client`)
    if (wrong.length > 0) throw new Loss(wrong.join('\n'))
    // What programs that were cut off have left beside is theirs to remove.
    for (const path of shown.keys()) if (isLeftBeside(path)) await this.#calls.unlink(path)
    this.#history.settle(shown)
    this.#quiet++
    this.#tell('quiet')
  }

  /** Ends in the proper way, and leaves nothing. */
  async #end(): Promise<void> {
    const { folder } = this.#options
    const drive = this.#drive as WebdavDrive
    this.#agent?.stop()
    await drive.docmount(['unmount', drive.mountpoint])
    const code = await drive.ended
    const wrong: string[] = []
    if (code !== 0) wrong.push(`the daemon ended with ${code}`)
    if ((await readFile('/proc/self/mounts', 'utf8')).includes(` ${drive.mountpoint} `))
      wrong.push('the mount is left')
    for (const path of await readdir(join(folder, 'state'), { recursive: true }))
      if (/\/spool\/(?!known\.json$)./.test(path)) wrong.push(`${path} is left in the spool`)
    for (const name of await readdir(join(folder, 'run'), { recursive: true }))
      if (/\.(sock|json)$/.test(name)) wrong.push(`${name} is left at run time`)
    if (wrong.length > 0) throw new Loss(wrong.join('\n'))
  }

  // What led to it

  #tell(line: string): void {
    this.#story.push({ at: performance.now(), line })
    if (this.#story.length > 100_000) this.#story.splice(0, 50_000)
  }

  async #explained(failure: Error): Promise<Error> {
    const unsent = await this.#unsent().catch(() => [])
    const paths = [...folders, ...pairs]
      .flatMap((folder) => [...failure.message.matchAll(new RegExp(`${folder}/[^/:]*?\\.(?:txt|csv)`, 'g'))])
      .map(([path]) => path)
      .slice(0, 6)
    const isAbout = (line: string): boolean =>
      paths.some(
        (path) =>
          line.includes(path) || line.includes(encodeURI(path)) || line.includes(encodeURIComponent(path)),
      )
    const zero = Date.now() - performance.now()
    const timed = (text: string, pattern: RegExp): { at: number; line: string }[] =>
      text
        .split('\n')
        .map((line) => ({ at: Date.parse(pattern.exec(line)?.[1] ?? '') - zero, line: `    ${line}` }))
    const logged = timed([...this.#logs, this.#drive?.log() ?? ''].join('\n'), /"time":"([^"]+)"/).filter(
      ({ line }) => isAbout(line) || /"level":"(?:error|fatal)"/.test(line),
    )
    const access = await readFile(join(this.#options.folder, 'access.log'), 'utf8').catch(() => '')
    const asked = timed(access, /"time":"([^"]+)"/).filter(({ line }) => isAbout(line))
    const story = [
      ...this.#story.filter(({ line }) => isAbout(line) || !line.includes('/')),
      ...paths.flatMap((path) =>
        this.#history.tell(path).map(({ at, line }) => ({ at, line: `  began: ${line}` })),
      ),
      ...logged,
      ...asked,
    ]
      .filter(({ at }) => !Number.isNaN(at))
      .sort((a, b) => a.at - b.at)
      .slice(-250)
    const lines = [
      failure.message,
      `seed ${this.#options.seed}; ${JSON.stringify(this.figures)}`,
      ...story.map(({ at, line }) => `${new Date(at + zero).toISOString().slice(11, 23)} ${line}`),
      'unsent:',
      ...unsent.map(
        ({ action, path, state, lastError }) => `  ${action} ${path} ${state} ${lastError ?? ''}`,
      ),
    ]
    const explanation = lines.join('\n')
    return failure instanceof Loss ? new Loss(explanation) : new Error(explanation, { cause: failure })
  }
}

function documents(tree: ReadonlyMap<string, Buffer | undefined>): Map<string, Buffer> {
  return new Map([...tree].filter((entry): entry is [string, Buffer] => entry[1] !== undefined))
}

function isSame(a: Buffer | undefined, b: Buffer | undefined): boolean {
  return a === undefined || b === undefined ? a === b : a.equals(b)
}
