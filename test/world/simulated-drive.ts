// A drive in the simulated world, life after life: the real filesystem object on a simulated clock, chance, disk and
// network. A kill ends a life and leaves the disk as it is; a cut leaves of it what was synced.

import { mkdirSync, rmSync } from 'node:fs'
import { join } from 'node:path'
import { createClient } from '../../src/api/client.ts'
import { operationsOf } from '../../src/fs/file-system.ts'
import type { FileSystem } from '../../src/fs/contract.ts'
import { start } from '../../src/fs/start.ts'
import type { Superblock } from '../../src/fs/superblock.ts'
import type { World } from '../../src/world/world.ts'
import type { Chance } from '../model/chance.ts'
import type { Calls } from '../support/door.ts'
import type { Operations } from '../../src/fs/operations.ts'
import { objectDoor } from '../support/object-door.ts'
import { openRoot, type OpenFolder } from '../support/open-folder.ts'
import type { EventQueue, Life } from './events.ts'
import { JournalFiles } from './journal-files.ts'
import { atEachCommit } from './journal-trouble.ts'
import { Platter } from './platter.ts'
import { project, serviceOrigin } from './service-model.ts'
import { simulatedDisk } from './simulated-disk.ts'
import type { SimulatedNetwork } from './simulated-network.ts'

export interface DriveSettings {
  readonly cacheTtlMs: number
  readonly closeWaitMs: number
  readonly undoMs: number
  readonly undoFetchBytes: number
}

/** 2026-01-01: when the world began, by a clock that is right. */
export const worldBeganAt = 1_767_225_600_000

export class SimulatedDrive {
  readonly platter: Platter
  lives = 0
  /** By this machine's clock (ms). */
  firstStartAt = 0
  fileSystem: FileSystem | undefined
  sb: Superblock | undefined
  /** How far this machine's clock is off (ms). */
  clockOffMs = 0
  /** Warnings and errors of all lives. */
  readonly onLog: (line: string) => void
  readonly #root: string
  readonly #events: EventQueue
  readonly #network: SimulatedNetwork
  readonly #chance: Chance
  #life: Life = { isOver: true, atEnd: [] }
  #dir = ''
  #journal: JournalFiles | undefined
  #lastUuid = 0
  #dirs = 0
  /** Rejects what is under way when this life ends. */
  #end: (error: Error) => void = () => {}
  calls: Calls | undefined
  /** The drive's own folder, held open. */
  root: OpenFolder | undefined
  /** Calls of the filesystem object so far, as a kernel makes them: each lookup, read, write, flush … */
  operations = 0

  /** `root`: a real folder for the databases. */
  constructor(options: {
    root: string
    events: EventQueue
    network: SimulatedNetwork
    chance: Chance
    onLog: (line: string) => void
  }) {
    this.#root = options.root
    this.#events = options.events
    this.#network = options.network
    this.#chance = options.chance
    this.onLog = options.onLog
    this.platter = new Platter(options.chance)
    atEachCommit(
      () => this.platter.mayCommit(),
      () => this.platter.mayWriteRow(),
    )
  }

  get isAlive(): boolean {
    return !this.#life.isOver
  }

  async start(settings: DriveSettings): Promise<void> {
    const life: Life = { isOver: false, atEnd: [] }
    this.#life = life
    this.lives++
    if (this.lives === 1) this.firstStartAt = worldBeganAt + this.clockOffMs + this.#events.now
    if (this.#dir === '') this.#dir = this.#newDir()
    const journal = new JournalFiles(join(this.#dir, 'state'))
    this.#journal = journal
    const { platter } = this
    const events = this.#events
    const world: World = {
      clock: events.clock(life, () => worldBeganAt + this.clockOffMs),
      chance: {
        random: () => this.#chance.random(),
        uuid: () => `00000000-0000-4000-8000-${String(++this.#lastUuid).padStart(12, '0')}`,
        hex: (bytes) => this.#chance.bytes(bytes).toString('hex'),
      },
      disk: simulatedDisk({ platter, events, life, journal, root: this.#dir }),
      network: this.#network.of(life),
    }
    const client = createClient({ baseUrl: `${serviceOrigin}/api`, apiKey: 'key', world })
    const say = (level: string) => (fields: object, text: string) => {
      if (!life.isOver) this.onLog(`${level} ${text} ${JSON.stringify(fields).replaceAll(this.#dir, '')}`)
    }
    const log = { debug() {}, info() {}, warn: say('warn'), error: say('error') }
    const sb = await start({
      files: client.files(project),
      stateDir: join(this.#dir, 'state'),
      cacheDir: join(this.#dir, 'cache'),
      // Small: what has no room is let go, and a start that looks through it is short.
      cacheSizeBytes: 512 * 1024,
      hostName: 'here',
      uid: 0,
      gid: 0,
      world,
      log,
      ...settings,
    })
    this.sb = sb
    this.fileSystem = operationsOf(sb)
    const ended = new Promise<never>((_resolve, reject) => {
      this.#end = reject
    })
    ended.catch(() => {})
    const operations = counted(this.fileSystem, () => void this.operations++)
    this.calls = mortal(objectDoor(operations), ended)
    this.root = mortal(openRoot(operations), ended)
  }

  /** kill -9. */
  kill(): void {
    this.#over()
    this.#moveState((dir) => this.#journal?.copyTo(dir))
  }

  /** The power goes. */
  cut(): void {
    this.#over()
    this.#moveState((dir) => this.#journal?.cutTo(dir, this.#chance))
    this.platter.cut()
  }

  /** In the proper way: resolves when all is closed. */
  async stop(): Promise<void> {
    await this.fileSystem?.close()
    this.kill()
  }

  #over(): void {
    this.#life.isOver = true
    for (const step of this.#life.atEnd) step()
    this.#end(Object.assign(new Error('ENOTCONN: the drive is dead'), { code: 'ENOTCONN' }))
    this.fileSystem = undefined
    this.sb = undefined
    this.calls = undefined
  }

  /** The old life's connections hold on to their files: the next one has its own. */
  #moveState(copy: (dir: string) => void): void {
    const before = this.#dir
    this.#dir = this.#newDir()
    copy(join(this.#dir, 'state'))
    this.#journal?.close()
    rmSync(before, { recursive: true, force: true })
  }

  #newDir(): string {
    const dir = join(this.#root, `life-${++this.#dirs}`)
    mkdirSync(join(dir, 'state'), { recursive: true, mode: 0o700 })
    return dir
  }
}

/** The same operations; `onCall` hears of each but what only counts references. */
function counted(operations: Operations, onCall: () => void): Operations {
  return new Proxy(operations, {
    get(target, name) {
      const call: unknown = Reflect.get(target, name)
      if (typeof call !== 'function' || name === 'remember' || name === 'forget') return call
      return (...rest: unknown[]): unknown => {
        onCall()
        return Reflect.apply(call, target, rest)
      }
    },
  })
}

/** The same calls, each of which ends with the drive. */
function mortal<C extends object>(calls: C, ended: Promise<never>): C {
  const wrap = <T extends object>(inner: T): T =>
    new Proxy(inner, {
      get(target, name, receiver) {
        const value: unknown = Reflect.get(target, name, receiver)
        if (typeof value !== 'function') return value
        return async (...given: unknown[]) => {
          const answer: unknown = await Promise.race([
            (value as (...all: unknown[]) => unknown)(...given),
            ended,
          ])
          return name === 'open' || name === 'openFolder' ? wrap(answer as object) : answer
        }
      },
    })
  return wrap(calls)
}
