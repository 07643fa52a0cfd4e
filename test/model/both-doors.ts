// Real programs at work through both doors of one drive, in the same folders and under the same names, while the service is away,
// slow or cut off now and then, and the daemon is killed. Each knows what it was answered; what may be there follows (history.ts).

import { mkdir, readFile, readdir, writeFile } from 'node:fs/promises'
import { basename, dirname, join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'

import { ask } from '../../src/daemon/control-client.ts'
import type { Unsent } from '../../src/fs/status.ts'
import { startAgent, type Agent } from '../support/agent.ts'
import { socketOf } from '../support/ask-daemon.ts'
import { startFlakyProxy, type FlakyProxy } from '../support/flaky-proxy.ts'
import { folderDoor } from '../support/folder-door.ts'
import { otherClient } from '../support/other-client.ts'
import { run } from '../support/run.ts'
import { startServiceProcess, type ServiceProcess } from '../support/service-process.ts'
import { project } from '../support/service.ts'
import { driveTree, serviceTree } from '../support/trees.ts'
import { waitUntil } from '../support/wait-until.ts'
import { startWebdavDrive, type WebdavDrive } from '../support/webdav-drive.ts'
import { chance, type Chance } from './chance.ts'
import { programLimitMs, type BothDoors } from './door-programs.ts'
import { DoorWork, folders, pairs } from './door-work.ts'
import { History } from './history.ts'
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
  /** Where to tell all that led to a failure; what is thrown has only what is about its documents. */
  readonly storyFile?: string | undefined
  readonly onProgress?: (figures: Figures) => void
}

export interface Figures {
  /** How often each program was run, and how often it failed. */
  readonly programs: Readonly<Record<string, { runs: number; failed: number }>>
  readonly troubles: Readonly<Record<string, number>>
  readonly kills: number
  readonly unmounts: number
  /** Times everything was left alone until it was quiet, and compared. */
  readonly quiet: number
}

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
  const soak = await Soak.start(options)
  try {
    return await soak.work()
  } finally {
    await soak.remove()
  }
}

class Soak {
  readonly #options: BothDoorsOptions
  readonly #luck: Chance
  readonly #service: ServiceProcess
  readonly #proxy: FlakyProxy
  readonly #history = new History(() => performance.now())
  readonly #work: DoorWork
  readonly #over = new AbortController()
  readonly #troubles: Record<string, number> = {}
  readonly #story: { at: number; line: string }[] = []
  /** Runs of the daemon so far; the last is the one that serves. */
  readonly #drives: WebdavDrive[] = []
  /** Times of trouble; the last may go on. */
  readonly #bad: { from: number; until: number }[] = []
  #drive: WebdavDrive | undefined
  #doors: BothDoors = { mountpoint: '', url: '', curlConfig: '', rclone: {} }
  #agent: Agent | undefined
  #ready: Promise<void> = Promise.resolve()
  #working = 0
  #kills = 0
  #unmounts = 0
  #killedAt = -Infinity
  #quiet = 0

  static async start(options: BothDoorsOptions): Promise<Soak> {
    const { folder } = options
    await mkdir(join(folder, 'service'))
    await mkdir(join(folder, 'saved'))
    const service = await startServiceProcess(join(folder, 'service'), join(folder, 'access.log'))
    const proxy = await startFlakyProxy({ targetPort: service.port })
    return new Soak(options, service, proxy)
  }

  constructor(options: BothDoorsOptions, service: ServiceProcess, proxy: FlakyProxy) {
    this.#options = options
    this.#service = service
    this.#proxy = proxy
    this.#luck = chance(options.seed)
    this.#work = new DoorWork({
      folder: join(options.folder, 'saved'),
      history: this.#history,
      doors: () => this.#doors,
      isPeace: (from) => this.#bad.every(({ until }) => until < from - afterTroubleMs),
      wasKilledSince: (from) => this.#killedAt >= from,
      tell: (line) => this.#tell(line),
    })
  }

  get figures(): Figures {
    const [troubles, kills, unmounts, quiet] = [this.#troubles, this.#kills, this.#unmounts, this.#quiet]
    return { programs: this.#work.programs, troubles, kills, unmounts, quiet }
  }

  async work(): Promise<Figures> {
    await this.#mount()
    try {
      for (const folder of [...folders, pairs[0]]) await this.#calls.mkdir(folder)
      const { seed } = this.#options
      const luckOf = (number: number): Chance => chance(seed * 1000 + number)
      const all = [
        ...Array.from({ length: ownActors }, (_, index) =>
          this.#again(luckOf(index), (luck) => this.#work.alone(index, luck)),
        ),
        ...Array.from({ length: sharingActors }, (_, index) =>
          this.#again(luckOf(100 + index), (luck) => this.#work.shared(luck)),
        ),
        this.#again(luckOf(200), (luck) => this.#work.folders(luck)),
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
    this.#drives.push(drive)
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

  /** Again and again, until all is over. */
  async #again(luck: Chance, step: (luck: Chance) => Promise<void>): Promise<void> {
    while (!this.#over.signal.aborted) {
      await this.#ready
      if (this.#over.signal.aborted) return
      this.#working++
      try {
        await step(luck)
      } finally {
        this.#working--
      }
      await sleep(luck.below(150))
    }
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
        await this.#stopped(async () => {
          await this.#leaveAlone()
          await (luck.random() < 0.5 ? this.#endAndBegin() : this.#letGo())
        })
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
        this.#killedAt = performance.now()
        await drive.ended
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

  // Quiet

  /** Without any help it has to send everything; then both doors and the service have to hold the same, each name what was saved last. */
  async #leaveAlone(): Promise<void> {
    this.#tell('left alone')
    await waitUntil('the programs to pause', () => this.#working === 0, programLimitMs + 10_000)
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
    // Files that programs left beside, where they were cut off, are theirs to remove.
    for (const path of shown.keys()) if (isLeftBeside(path)) await this.#calls.unlink(path)
    this.#history.settle(shown)
    this.#quiet++
    this.#tell('quiet')
  }

  /** Everything was sent: no content is kept for long. */
  async #letGo(): Promise<void> {
    const isEmpty = async (): Promise<boolean> => (await this.#spooled()).length === 0
    await waitUntil('the spool to be empty', isEmpty, 30_000).catch(async () => {
      throw new Loss((await this.#left()).join('\n'))
    })
  }

  async #endAndBegin(): Promise<void> {
    await this.#end()
    await this.#mount()
    this.#tell('mounted again')
  }

  /** Ends in the proper way, and leaves nothing. */
  async #end(): Promise<void> {
    const { folder } = this.#options
    const drive = this.#drive as WebdavDrive
    this.#agent?.stop()
    await drive.docmount(['unmount', drive.mountpoint])
    const code = await drive.ended
    this.#unmounts++
    this.#tell('unmounted')
    const wrong: string[] = []
    if (code !== 0) wrong.push(`the daemon ended with ${code}`)
    if ((await readFile('/proc/self/mounts', 'utf8')).includes(` ${drive.mountpoint} `))
      wrong.push('the mount is left')
    wrong.push(...(await this.#left()))
    for (const name of await readdir(join(folder, 'run'), { recursive: true }))
      if (/\.(sock|json)$/.test(name)) wrong.push(`${name} is left at run time`)
    if (wrong.length > 0) throw new Loss(wrong.join('\n'))
  }

  /** Contents that are kept until they are sent. */
  async #spooled(): Promise<string[]> {
    const state = join(this.#options.folder, 'state')
    return (await readdir(state, { recursive: true }))
      .filter((path) => /\/spool\/(?!known\.json$)./.test(path))
      .map((path) => join(state, path))
  }

  /** The same in words: everything was sent. */
  async #left(): Promise<string[]> {
    return Promise.all(
      (await this.#spooled()).map(async (file) => {
        const notes = await readFile(join(dirname(file), 'known.json'), 'utf8').catch(() => '')
        const note = notes.split('\n').findLast((line) => line.includes(basename(file)))
        const content = this.#history.describe(await readFile(file))
        return `${basename(file)} is left in the spool: ${content}; ${note ?? 'it was never saved'}`
      }),
    )
  }

  // The story of a failure

  #tell(line: string): void {
    this.#story.push({ at: performance.now(), line })
    if (this.#story.length > 100_000) this.#story.splice(0, 50_000)
  }

  async #explained(failure: Error): Promise<Error> {
    const unsent = await this.#unsent().catch(() => [])
    const paths = [...folders, ...pairs]
      .flatMap((folder) => [...failure.message.matchAll(new RegExp(`${folder}/[^/:]*?\\.(?:txt|csv)`, 'g'))])
      // A conflict copy is of the document beside it.
      .flatMap(([path]) => [path, path.replace(/ \(conflict [^)]*\)/, '')])
      .filter((path, index, all) => all.indexOf(path) === index)
      .slice(0, 6)
    const isAbout = (line: string): boolean =>
      paths.some(
        (path) =>
          line.includes(path) || line.includes(encodeURI(path)) || line.includes(encodeURIComponent(path)),
      )
    const isShown = (line: string): boolean =>
      isAbout(line) || !line.includes('/') || /"level":"(?:error|fatal)"/.test(line)
    const zero = Date.now() - performance.now()
    const timed = (text: string): { at: number; line: string }[] =>
      text.split('\n').map((line) => ({
        at: Date.parse(/"time":"([^"]+)"/.exec(line)?.[1] ?? '') - zero,
        line: `    ${line}`,
      }))
    const began = this.#history.paths
      .flatMap((path) => this.#history.tell(path))
      .map(({ at, line }) => ({ at, line: `  began: ${line}` }))
    const logged = timed(this.#drives.map((drive) => drive.log()).join('\n'))
    const asked = timed(await readFile(join(this.#options.folder, 'access.log'), 'utf8').catch(() => ''))
    const story = [...this.#story, ...began, ...logged, ...asked]
      .filter(({ at }) => !Number.isNaN(at))
      .sort((a, b) => a.at - b.at)
      .map(({ at, line }) => `${new Date(at + zero).toISOString().slice(11, 23)} ${line}`)
    const { storyFile } = this.#options
    if (storyFile !== undefined) await writeFile(storyFile, story.join('\n'))
    const lines = [
      failure.message,
      `seed ${this.#options.seed}; ${JSON.stringify(this.figures)}`,
      ...story.filter(isShown).slice(-250),
      ...(storyFile === undefined ? [] : [`all of it: ${storyFile}`]),
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
