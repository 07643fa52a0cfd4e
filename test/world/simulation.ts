// One run of the simulated world: programs at work on a drive, a service in all weathers, kills and power cuts, all decided
// by one seed. A run is a list of steps; each draws its own chance, so that the rest stays what it is when some are left
// out. Throws a Failure with the history when a property does not hold.

import { createHash } from 'node:crypto'
// The sources load it when they first need it: that takes real time, in which no event is due.
import 'file-type'
import { callsFor, contentsOf, Kept } from './bounds.ts'
import { versionOf } from '../../src/content/fingerprint.ts'
import type { Intention } from '../../src/content/intention.ts'
import type { Job } from '../../src/content/commit/job.ts'
import type { Unsent } from '../../src/fs/status.ts'
import { chance, type Chance } from '../model/chance.ts'
import { richTaste, usualSizes, type Action, type Sizes, type Taste } from '../model/choices.ts'
import { isLocalOnly } from '../model/model.ts'
import { compare, Worker } from '../model/worker.ts'
import type { Calls } from '../support/door.ts'
import type { OpenFolder } from '../support/open-folder.ts'
import { crowd, crowdedFolder, type Crowd } from './crowd.ts'
import { CrowdedFolder } from './crowded-folder.ts'
import { CrowdedTree } from './crowded-tree.ts'
import { EventQueue, promisesFollowed } from './events.ts'
import type { DiskTrouble } from './platter.ts'
import { KeptForUndo } from './kept-for-undo.ts'
import { ServiceModel, someHabits } from './service-model.ts'
import { checkShadow } from './shadow.ts'
import { sharedFolder, SharedFolder, sharedNames, type SharedFolderOptions } from './shared-folder.ts'
import { namesInFolders, SharedFolders } from './shared-folders.ts'
import { lookOfSaveMs, SharedLedger } from './shared-ledger.ts'
import { SimulatedDrive, worldBeganAt, type DriveSettings } from './simulated-drive.ts'
import {
  fairWeather,
  brokenAndLate,
  lateRequestMs,
  repeated,
  SimulatedNetwork,
  troubles,
  type Trouble,
} from './simulated-network.ts'
import { drawnSorts, type Sort } from './sorts-of-world.ts'
import { someOf } from './swarm.ts'
import { WatchedFolder, watchedFolder } from './watched-folder.ts'

/** A property does not hold. `history`: all that happened, oldest first. */
export class Failure extends Error {
  override readonly name = 'Failure'
  readonly history: readonly string[]
  /** Numbers of the steps up to there that did something. */
  readonly taken: readonly number[]
  readonly figures: SimulationFigures

  constructor(
    message: string,
    history: readonly string[],
    taken: readonly number[],
    figures: SimulationFigures,
  ) {
    super(message)
    this.history = history
    this.taken = taken
    this.figures = figures
  }
}

export interface SimulationOptions {
  readonly seed: number
  readonly steps: number
  /** The numbers of the steps that are taken; all where absent. */
  readonly only?: ReadonlySet<number> | undefined
  /** Another client works in a folder of its own and ours. */
  readonly isShared?: boolean | undefined
  /** Drawn from the seed where absent. */
  readonly sorts?: ReadonlySet<Sort> | undefined
  /** A real folder for the databases. */
  readonly root: string
}

export interface SimulationFigures {
  readonly seed: number
  readonly steps: number
  readonly events: number
  /** Of programs: a save, a rename, a read … */
  readonly operations: number
  /** Of the filesystem object, which these are made of, and looks at what is there. */
  readonly calls: number
  readonly faults: number
  readonly kills: number
  readonly cuts: number
  readonly quietPeriods: number
  readonly virtualMs: number
  /** SHA-256 of the history. */
  readonly history: string
}

/** A drive left alone is quiet after so long: the longest pause between two attempts, and the longest silence before it. */
const quietWithinMs = 15 * 60_000
/** So long what is kept for undo stays: hardly anything of a world is forgotten. */
const undoMs = 30 * 86_400_000
/** Time between two looks whether all is quiet. */
const lookEveryMs = 100
/** No call of a program takes longer, whatever the weather. */
const answerWithinMs = 10 * 60_000
/** An hour of nobody asking anything costs no more calls than this. */
const mostIdleCalls = 4
/** Listings, and what the service agreed to, are saved for a time without the service after so long. */
const listingsSavedMs = 2_500
/** A sync of the journal that failed is tried again within this time. */
const syncedAgainMs = 2_000
/** From a kill to the next start: longer than any request is on its way. */
const startTakesMs = lateRequestMs + 1_500
const soonStartMs = 300
/** Of two requests that go out together the second may come first: that is seen once in a run of the drive, by a look and another upload. */
const callsToSeeNoOrder = 2
/** Where the folder went with the document that was deleted too late, it is looked for as well, and its own folder is listed. */
const callsToSeeFolderGone = 2
/** A file that was on this machine only, and is a document after all, is uploaded. */
const callsToSendTemporary = 1
/** How often the next step is which. */
const turns = {
  work: 100, shared: 15, other: 5, watch: 10, theirs: 4, wait: 20, weather: 8, disk: 3, refresh: 2, kill: 1, cut: 1, remount: 0.5, alone: 1, hours: 0.3,
} // prettier-ignore
const workers = 3
/** Somebody looks all the time, while answers overtake one another. */
const watchesBent: Bent = { trouble: 'slow', turns: { watch: 60, theirs: 10, weather: 16 } }
/**
 * Faults that take several things at once come up in a world that is bent on them: one trouble alone; one document
 * written, deleted and renamed while all that is on its way; content that is synced automatically.
 */
const bents: readonly Bent[] = [
  {},
  {},
  watchesBent,
  { trouble: 'late change', isHasty: true, turns: { wait: 5, weather: 16 } },
  { trouble: 'late change', isHasty: true, turns: { wait: 20, weather: 16 } },
  { sizes: { small: 30, empty: 3, medium: 60, large: 1 }, turns: { cut: 4 } },
  { trouble: 'lost answer', turns: { weather: 16 } },
]
/** Where another client works in one of the folders: who is there meets it. */
const sharedBents: readonly Bent[] = [
  ...bents,
  { turns: { work: 30, shared: 60, other: 30, weather: 16 } },
  { trouble: 'lost answer', turns: { work: 30, shared: 60, other: 20, weather: 16 } },
  { trouble: '503', turns: { work: 30, shared: 60, other: 20, weather: 16 } },
]
/** How often, beside all the rest. */
const againOfHasty = 150
/** Where a balancer repeats changes it does so many times as often as there is any other trouble. */
const repeatedTimes = 6
/** Where programs set times, or append beside another client: so often, beside all the rest. */
const touches = 12
const sharedAppends = 3
/** Where contents are heavy: of which size, and what happens how often. */
const heavySizes: Sizes = { small: 30, empty: 3, medium: 20, large: 20 }
const heavyTurns: Partial<typeof turns> = { kill: 8, cut: 4 }
const heavyRewrites = 25
/** Where the service tells time by the second. */
const secondsTaste: Partial<Taste> = { sameSecond: 150 }
/** Where listings lag for long: by so much (ms), behind what was changed before a start, and the drive is killed more often. */
const longLagMs = 12_000
const lagsTurns: Partial<typeof turns> = { kill: 6 }
const secondsTurns: Partial<typeof turns> = { weather: 0.5, wait: 2, kill: 4, cut: 12 }
/** Where what one program writes another goes on with: so often. */
const handsOn = 40
/** Where what was saved leaves its name before the service has it. */
const onItsWay = 60
const onItsWayTurns: Partial<typeof turns> = { weather: 16 }
/** Where several programs work on the same names: so often. */
const crowdTurns = 60
/** Where folders are worked with beside another client: so many of the steps there are. */
const inFolders = 0.7

interface Bent {
  readonly trouble?: Trouble
  /** One document again and again, and no close waits for long. */
  readonly isHasty?: boolean
  readonly sizes?: Sizes
  readonly turns?: Partial<typeof turns>
}

/** A cut comes so soon after an operation (ms), at most. */
const soonMs = [0, 20, 300, 1_500]
const keptLines = 100_000
/** Characters of the history. */
const hashedAtOnce = 10_000

/** The command that runs this world again. */
export function replayOf({
  seed,
  steps,
  isShared,
  sorts = drawnSorts(seed),
}: Omit<SimulationOptions, 'root'>): string {
  const shared = isShared === true ? ' --shared' : ''
  return `scripts/simulate --seed ${seed} --events ${steps} --sorts '${[...sorts].join()}'${shared}`
}

export async function simulate(options: SimulationOptions): Promise<SimulationFigures> {
  const run = new Simulation(options)
  return run.run()
}

class Simulation {
  readonly #options: SimulationOptions
  readonly #events = new EventQueue()
  readonly #world: Chance
  readonly #service: ServiceModel
  readonly #network: SimulatedNetwork
  readonly #drive: SimulatedDrive
  readonly #bent: Bent
  readonly #settings: DriveSettings
  readonly #keptForUndo = new KeptForUndo()
  readonly #room: { readonly mostDocuments: number; readonly mostFolders: number }
  readonly #turns: Record<keyof typeof turns | 'crowd', number>
  readonly #taste: Taste
  readonly #sizes: Sizes
  readonly #troubles: readonly Trouble[]
  readonly #workers: Worker[]
  readonly #ledger: SharedLedger
  readonly #shared: SharedFolder
  readonly #sharedFolders: SharedFolders | undefined
  readonly #watched: WatchedFolder
  readonly #crowded: Crowd
  readonly #kept = new Kept()
  /** The folder of a program that is pinned, if any is. */
  readonly #pinned: string | undefined
  readonly #beginsAway: boolean
  readonly #lagsAfterStart: boolean
  readonly #startsSoon: boolean
  #awayAt = -Infinity
  /** When the disk was last known to refuse. */
  #unwellAt = -Infinity
  /** Since when each worker is at it. */
  readonly #busySince: (number | undefined)[] = []
  readonly #hash = createHash('sha256')
  #unhashed = ''
  readonly #history: string[] = []
  /** The chance of the step under way. */
  #step: Chance
  #failure: Error | undefined
  /** Infinity: it is not. */
  #fairSince = 0
  readonly #taken: number[] = []
  /** Operations of the step under way. */
  #done: Action[] = []
  #operations = 0
  #kills = 0
  #cuts = 0
  #quietPeriods = 0

  constructor(options: SimulationOptions) {
    this.#options = options
    const { seed, sorts = drawnSorts(seed) } = options
    this.#world = chance(seed)
    this.#step = this.#world
    const events = this.#events
    const isHeavy = sorts.has('heavy')
    const isWatched = sorts.has('watches')
    const tellsSeconds = sorts.has('seconds')
    const isHandedOn = sorts.has('handsOn')
    const isOnItsWay = sorts.has('onItsWay')
    this.#lagsAfterStart = sorts.has('lags') && !isWatched
    const habits = {
      ...someHabits(this.#world),
      foldersVanish: sorts.has('foldersVanish'),
      ...(isWatched ? { lagMs: 0 } : this.#lagsAfterStart ? { lagMs: longLagMs } : {}),
      ...(tellsSeconds ? { clockStepMs: 1_000 } : {}),
    }
    this.#service = new ServiceModel(habits, this.#world, () => worldBeganAt + events.now)
    this.#network = new SimulatedNetwork(events, this.#world, this.#service)
    this.#network.note = (line) => this.#note(`    ${line}`)
    this.#drive = new SimulatedDrive({
      root: options.root,
      events,
      network: this.#network,
      chance: this.#world,
      onLog: (line) => this.#note(`      ${line}`),
    })
    this.#drive.platter.refusesJournal = sorts.has('journalFails')
    this.#drive.platter.refusesRows = sorts.has('rowsFail')
    // Of what tells no size no copy is kept, and without the service nobody can say how long it is.
    this.#pinned = habits.tellsSizes && (sorts.has('pins') || tellsSeconds) ? '/w0' : undefined
    this.#beginsAway = habits.tellsSizes && sorts.has('beginsAway')
    this.#startsSoon = sorts.has('startsSoon')
    const drawnBent = this.#world.pick(options.isShared === true ? sharedBents : bents)
    this.#bent = isWatched ? watchesBent : drawnBent
    const bent = this.#bent
    const drawnWaitMs = this.#world.pick(bent.isHasty === true ? [0, 200] : [0, 200, 10_000, Infinity])
    this.#settings = {
      cacheTtlMs: Math.max(2_000, this.#service.habits.lagMs * 2),
      closeWaitMs: isHandedOn ? Infinity : isOnItsWay ? 200 : drawnWaitMs,
      undoMs: sorts.has('undo') ? undoMs : 0,
      undoFetchBytes: sorts.has('undoFetches') ? Infinity : 0,
    }
    // Few documents meet each other more often, and are looked at sooner.
    this.#room = this.#world.pick([
      { mostDocuments: 3, mostFolders: 1 },
      { mostDocuments: 10, mostFolders: 2 },
      { mostDocuments: 30, mostFolders: 4 },
    ])
    this.#turns = {
      ...someOf(turns, this.#world, ['work', 'shared', 'other', 'wait', 'weather']),
      ...this.#bent.turns,
      ...(isHeavy ? heavyTurns : {}),
      ...(tellsSeconds ? secondsTurns : {}),
      ...(this.#lagsAfterStart ? lagsTurns : {}),
      ...(isOnItsWay ? onItsWayTurns : {}),
      crowd: sorts.has('crowds') ? crowdTurns : 0,
    }
    const taste = someOf(richTaste, this.#world, ['write', 'over'])
    const touch = sorts.has('touches') ? touches : 0
    const rewriteSlowly = isHeavy ? heavyRewrites : 0
    const again = bent.isHasty === true ? { again: againOfHasty } : {}
    const handOn = isHandedOn ? handsOn : 0
    const inSeconds = tellsSeconds ? secondsTaste : {}
    const special = { touch, rewriteSlowly, handOn, sameSecond: 0, onItsWay: isOnItsWay ? onItsWay : 0 }
    this.#taste = { ...taste, ...again, ...special, ...inSeconds }
    const weights = Object.fromEntries(troubles.map((each) => [each, 1])) as Record<Trouble, number>
    const some = someOf(weights, this.#world, ['late request'])
    const drawn = troubles.filter((each) => some[each] > 0)
    const repeats: readonly Trouble[] = sorts.has('repeats')
      ? Array.from({ length: repeatedTimes }, () => repeated)
      : []
    const lates: readonly Trouble[] = sorts.has('brokenAndLate')
      ? Array.from({ length: repeatedTimes }, () => brokenAndLate)
      : []
    this.#troubles = bent.trouble === undefined ? [...drawn, ...repeats, ...lates] : [bent.trouble]
    this.#sizes = isHeavy ? heavySizes : (bent.sizes ?? usualSizes)
    this.#note(`habits ${JSON.stringify(this.#service.habits)} ${JSON.stringify(this.#settings)}`)
    this.#workers = Array.from({ length: workers }, (_, index) => this.#worker(index))
    const calls = (): Calls => this.#calls()
    const now = (): number => worldBeganAt + events.now
    const note = (line: string): void => this.#note(line)
    const { cacheTtlMs } = this.#settings
    this.#watched = new WatchedFolder({
      service: this.#service,
      calls,
      now,
      pause: (ms) => this.#wait(ms),
      refresh: async () => {
        await this.#drive.fileSystem?.refresh(watchedFolder).catch(() => {})
      },
      oldestMs: cacheTtlMs + this.#service.habits.lagMs,
      awayAt: () => worldBeganAt + (this.#drive.sb?.reach.isAway === true ? events.now : this.#awayAt),
      note,
    })
    const crowd = {
      service: this.#service,
      calls,
      pause: (ms: number) => this.#wait(ms),
      note,
    }
    this.#crowded = sorts.has('crowdTrees')
      ? new CrowdedTree({ ...crowd, root: () => this.#drive.root as OpenFolder })
      : new CrowdedFolder({ ...crowd, writesInPlace: sorts.has('crowdWrites') })
    this.#ledger = new SharedLedger({
      service: this.#service,
      now,
      cacheTtlMs,
      isOlderThanMount: (modifiedAt) =>
        this.#drive.lives === 1 && Date.parse(modifiedAt) < this.#drive.firstStartAt,
    })
    const shared: SharedFolderOptions = {
      service: this.#service,
      ledger: this.#ledger,
      calls,
      isSending: (path) => this.#isSending(path),
      appends: sorts.has('appends') ? sharedAppends : 0,
      note,
    }
    this.#shared = new SharedFolder(shared)
    const hasFolders = options.isShared === true && sorts.has('sharedFolders')
    this.#sharedFolders = hasFolders ? new SharedFolders(shared) : undefined
  }

  #worker(index: number): Worker {
    const folder = `/w${index}`
    const step = (): Chance => this.#step
    return new Worker({
      folder,
      renamesFolders: true,
      ...this.#room,
      readsAgain: 0.2,
      taste: this.#taste,
      sizes: this.#sizes,
      chance: {
        random: () => step().random(),
        below: (limit) => step().below(limit),
        pick: (values) => step().pick(values),
        weighted: (weights) => step().weighted(weights),
        bytes: (length) => step().bytes(length),
      },
      calls: () => this.#calls(),
      life: () => (this.#drive.isAlive ? this.#drive.lives : undefined),
      isDiskUnwell: (since) => this.#drive.platter.trouble !== 'none' || this.#unwellAt >= since,
      mayMeet: ['ENOSPC', 'EACCES'],
      now: () => this.#events.now,
      pause: (ms) => new Promise<void>((resolve) => void this.#events.after(ms, resolve)),
      onAction: (action) => {
        this.#operations++
        this.#done.push(action)
        const size = 'content' in action ? ` ${action.content.length} bytes` : ''
        this.#note(`${action.kind} ${action.path}${'to' in action ? ` → ${action.to}` : ''}${size}`)
      },
    })
  }

  #calls(): Calls {
    const { calls } = this.#drive
    if (calls === undefined) throw Object.assign(new Error('ENOTCONN'), { code: 'ENOTCONN' })
    return calls
  }

  /**
   * A move also looks at what it takes away, and at nothing else: whoever asks for another document meanwhile (listings that tell
   * no sizes) is a program that is shown it. People are told of nothing that is sent while the service is away; what was begun goes on.
   */
  #isSending(path: string): boolean {
    const isAtIt = ({ isRunning, intention: { path: at, source } }: Job): boolean =>
      isRunning && (at === path || source === path)
    return (
      this.#network.isDeleting(path) || this.#drive.sb?.queue.jobsUnder(sharedFolder).some(isAtIt) === true
    )
  }

  get #isCrowded(): boolean {
    return this.#turns.crowd > 0
  }

  async run(): Promise<SimulationFigures> {
    const { seed, steps, only } = this.#options
    try {
      await this.#until('the first start', () => this.#drive.start(this.#settings))
      for (const worker of this.#workers)
        await this.#until('mkdir', async () => this.#drive.calls?.mkdir(worker.folder))
      for (const folder of [watchedFolder, ...(this.#options.isShared === true ? [sharedFolder] : [])])
        await this.#until('mkdir', async () => this.#drive.calls?.mkdir(folder))
      if (this.#isCrowded) await this.#until('mkdir', async () => this.#drive.calls?.mkdir(crowdedFolder))
      // The folders are everybody's ground: no cut takes them back.
      await this.#pass(startTakesMs)
      await this.#pin()
      for (let number = 0; number < steps; number++) {
        if (only?.has(number) === false) continue
        this.#step = chance(seed * 7_919 + number + 1)
        this.#taken.push(number)
        if (!(await this.#take(this.#step))) this.#taken.pop()
        this.#checkAlways()
      }
      await this.#leaveAlone(true)
      await this.#until('the end', () => this.#drive.stop())
    } catch (error) {
      this.#drive.kill()
      throw new Failure((error as Error).message, this.#history, this.#taken, this.#figures())
    }
    return this.#figures()
  }

  #figures(): SimulationFigures {
    const { seed, steps } = this.#options
    this.#hashRest()
    return {
      seed,
      steps,
      events: this.#events.count,
      operations: this.#operations,
      calls: this.#drive.operations,
      faults: this.#network.faults + this.#drive.platter.faults,
      kills: this.#kills,
      cuts: this.#cuts,
      quietPeriods: this.#quietPeriods,
      virtualMs: Math.round(this.#events.now),
      history: this.#hash.copy().digest('hex'),
    }
  }

  /** False where there was nothing to do. */
  async #take(step: Chance): Promise<boolean> {
    const isShared = this.#options.isShared === true
    const kind = step.weighted({
      ...this.#turns,
      shared: isShared ? this.#turns.shared : 0,
      other: isShared ? this.#turns.other : 0,
    })
    switch (kind) {
      case 'work': {
        this.#done = []
        const index = step.below(workers)
        if (this.#busySince[index] !== undefined) return false
        this.#work(index, (this.#workers[index] as Worker).act())
        await this.#pass(step.random() * 20)
        return true
      }
      case 'shared':
        if (this.#busySince[workers] !== undefined) return false
        this.#operations++
        this.#work(workers, this.#sharedPlace(step).act(step))
        await this.#pass(step.random() * 20)
        return true
      case 'other':
        return this.#sharedPlace(step).otherActs(step)
      case 'watch':
        if (this.#busySince[workers + 1] !== undefined) return false
        this.#operations++
        this.#work(workers + 1, this.#watched.act(step))
        await this.#pass(step.random() * 20)
        return true
      case 'crowd': {
        const index = workers + 2 + step.below(crowd)
        if (this.#busySince[index] !== undefined) return false
        this.#operations++
        this.#work(index, this.#crowded.act(step))
        await this.#pass(step.random() * 20)
        return true
      }
      case 'theirs':
        this.#watched.otherActs(step)
        return true
      case 'wait':
        await this.#pass(step.random() * step.pick([100, 1_000, 10_000]))
        return true
      case 'hours':
        this.#note('hours')
        await this.#pass(step.random() * 7_200_000)
        return true
      case 'weather':
        this.#network.weather = {
          latencyMs: step.pick([1, 20, 150, 1_000]),
          trouble: step.pick(this.#bent.trouble === undefined ? [0, 0.05, 0.3, 0.6] : [0.3, 0.6, 0.9]),
          kinds:
            step.random() < 0.5 ? this.#troubles : [step.pick(this.#troubles), step.pick(this.#troubles)],
          isDown: step.random() < 0.1,
        }
        this.#fairSince = Infinity
        this.#service.lagging = step.pick([0, 0, 0.5, 1])
        this.#note(`weather ${JSON.stringify(this.#network.weather)}`)
        return true
      case 'disk':
        this.#setDisk(step.pick(['none', 'none', 'full', 'errors', 'slow']))
        this.#note(`disk ${this.#drive.platter.trouble}`)
        return true
      case 'refresh':
        this.#drive.fileSystem?.refresh(step.pick(['/', '/w0', watchedFolder])).catch(() => {})
        return true
      case 'kill':
      case 'cut':
      case 'remount':
        await this.#restart(kind)
        return true
      case 'alone':
        await this.#leaveAlone(false)
        return true
    }
  }

  #sharedPlace(step: Chance): SharedFolder | SharedFolders {
    const folders = this.#sharedFolders
    return folders !== undefined && step.random() < inFolders ? folders : this.#shared
  }

  #work(index: number, work: Promise<void>): void {
    this.#busySince[index] = this.#events.now
    work.then(
      () => (this.#busySince[index] = undefined),
      (error: Error) => {
        this.#busySince[index] = undefined
        this.#failure ??= error
      },
    )
  }

  async #restart(kind: 'kill' | 'cut' | 'remount'): Promise<void> {
    const idle = this.#workers.findIndex((_, index) => this.#busySince[index] === undefined)
    if (kind === 'cut' && idle !== -1 && this.#step.random() < 0.5) {
      this.#work(idle, (this.#workers[idle] as Worker).act())
      await this.#pass(this.#step.random() * this.#step.pick(soonMs))
    }
    if (kind !== 'cut' && this.#beginsAway && this.#step.random() < 0.5) return this.#restartAway(kind)
    this.#note(kind)
    const at = this.#events.now
    const changes = this.#changesSoFar()
    const { trouble } = this.#drive.platter
    // A sync that failed a moment ago has not been tried again yet.
    const didDiskFail = trouble === 'errors' || this.#unwellAt >= at - syncedAgainMs
    this.#fair()
    // A power cut may take the times since when the service agrees: the drive believes listings then.
    if (kind !== 'cut' && this.#lagsAfterStart) this.#service.lagging = this.#step.pick([0, 0.5, 1])
    if (kind === 'remount') {
      await this.#pauseAll()
      await this.#until('the drive to be closed', () => this.#drive.stop())
    } else if (kind === 'kill') {
      this.#kills++
      this.#drive.kill()
    } else {
      this.#cuts++
      this.#drive.cut()
    }
    await this.#until('programs to hear of it', () => this.#pause())
    // After a power cut, requests on their way arrive before the machine is up again: of what it has lost it cannot tell that
    // from another client's.
    await this.#pass(this.#startsSoon && kind !== 'cut' ? soonStartMs : startTakesMs)
    // A document that the drive no longer knows of after a power cut would be hidden by a listing that lags (shared
    // seed 2151194).
    if (kind === 'cut' && this.#changesSoFar() > changes) await this.#pass(this.#service.habits.lagMs)
    // Others go on meanwhile.
    const theirs = this.#options.isShared === true ? this.#step.below(3) : 0
    for (let times = 0; times < theirs; times++) this.#sharedPlace(this.#step).otherActs(this.#step)
    if (trouble === 'slow') this.#setDisk(trouble)
    await this.#until('a start', () => this.#drive.start(this.#settings))
    this.#ledger.began()
    this.#note('started')
    this.#watched.forget()
    if (kind === 'cut') this.#ledger.forget()
    for (const worker of this.#workers)
      await this.#until<unknown>('a look', async () => {
        if (kind === 'cut') await worker.decideAfterCut(at, didDiskFail)
        else if (!(await worker.takeAsShown())) await worker.check(`after a ${kind}`)
      })
    if (this.#isCrowded) await this.#until('a look', () => this.#crowded.goOn(kind === 'cut'))
    // Of what was shown before a cut nothing may be left, until it is listed again for a while: a save may take the place of what is
    // shown now two seconds later (shared seed 9100080).
    if (kind !== 'remount' && this.#cuts > 0) await this.#pass(lookOfSaveMs + 1)
  }

  /** The drive begins without the service: what it showed before that, it shows, and programs go on. */
  async #restartAway(kind: 'kill' | 'remount'): Promise<void> {
    this.#note(`${kind}, and the service is away`)
    this.#fair()
    await this.#pauseAll()
    // A change of a moment ago may be told of nowhere yet.
    for (let changes = -1; changes !== this.#changesSoFar();) {
      changes = this.#changesSoFar()
      await this.#pass(listingsSavedMs)
    }
    this.#network.weather = { ...fairWeather, isDown: true }
    this.#fairSince = Infinity
    await this.#beginAgainAway(kind)
    this.#watched.forget()
    for (const worker of this.#workers)
      await this.#until('a look', () => worker.checkNames(`after a ${kind}, the service away`))
  }

  /** A drive ends, and another begins, while the service is away. */
  async #beginAgainAway(kind: 'kill' | 'remount'): Promise<void> {
    if (kind === 'kill') {
      this.#kills++
      this.#drive.kill()
    } else await this.#until('the drive to be closed', () => this.#drive.stop())
    await this.#pass(startTakesMs)
    await this.#until('a start', () => this.#drive.start(this.#settings))
    this.#ledger.began()
    this.#note('started without the service')
  }

  #fair(): void {
    if (this.#network.weather !== fairWeather) this.#fairSince = this.#events.now
    this.#network.weather = fairWeather
    this.#service.lagging = 0
    this.#setDisk('none')
  }

  #setDisk(trouble: DiskTrouble): void {
    const { platter } = this.#drive
    if (platter.trouble !== 'none') this.#unwellAt = this.#events.now
    platter.trouble = trouble
  }

  /** Resolves when no program is at work. */
  async #pause(): Promise<void> {
    while (this.#busySince.some((since) => since !== undefined)) await this.#wait(10)
  }

  /** Also what a disk refused is saved by then. */
  async #pauseAll(): Promise<void> {
    await this.#until('programs to pause', () => this.#pause())
    // A second descriptor is closed a moment after the first.
    await this.#pass(500)
    for (const worker of this.#workers)
      await this.#until('what was refused', async () => {
        while (!(await worker.catchUp())) await this.#wait(1_000)
      })
  }

  #wait(ms: number): Promise<void> {
    return new Promise((resolve) => void this.#events.after(ms, resolve))
  }

  /** The service is well and nobody asks anything: everything is sent by itself. */
  async #leaveAlone(isEnd: boolean): Promise<void> {
    this.#note('left alone')
    this.#fair()
    await this.#pauseAll()
    const until = this.#events.now + quietWithinMs
    // A document that was to be moved may be gone by another client's hand: its move is refused, and told.
    const refused = new Set<string>()
    const unsent = (): readonly Unsent[] =>
      (this.#drive.fileSystem?.unsent('/') ?? []).filter(({ path, state, lastError = '' }) => {
        // A change that waits for a refused one says so.
        const isOut = state === 'refused' || (state === 'pending' && lastError.endsWith('which is refused'))
        const isRefused = isOut && path.startsWith(`${sharedFolder}/`)
        if (isRefused) refused.add(path)
        return !isRefused
      })
    const isAway = (): boolean => this.#drive.sb?.reach.isAway === true
    while ((unsent().length > 0 || isAway()) && this.#events.now < until && this.#events.nextAt < Infinity)
      await this.#pass(Math.max(lookEveryMs, this.#events.nextAt - this.#events.now))
    if (isAway()) throw new Error('left alone, and the service that is well is still taken to be away')
    if (unsent().length > 0) {
      const next = this.#events.nextAt === Infinity ? ', and nothing will ever happen' : ''
      throw new Error(`left alone, still unsent${next}: ${JSON.stringify(unsent().slice(0, 2))}`)
    }
    for (const worker of this.#workers) {
      if (isEnd) worker.forgetSeen()
      if (!(await this.#look(() => worker.check('left alone')))) continue
      this.#compareWithService(worker)
    }
    if (this.#isCrowded) await this.#look(() => this.#crowded.check())
    this.#ledger.check(refused)
    await this.#checkSharedFolders(refused)
    await this.#checkUndo()
    await this.#beAway()
    this.#quietPeriods++
    if (!isEnd) return
    if (this.#pinned !== undefined) this.#drive.fileSystem?.unpin(this.#pinned)
    await this.#idleHour()
    this.#checkSpool(refused.size)
    for (const worker of this.#workers) await this.#checkCalls(worker)
  }

  async #checkSharedFolders(refused: ReadonlySet<string>): Promise<void> {
    const folders = this.#sharedFolders
    if (folders === undefined) return
    const left = (): Intention[] =>
      (this.#drive.sb?.queue.jobsUnder(sharedFolder) ?? []).map(({ intention }) => intention)
    const isAnyMoved = left().some(({ source }) => source !== undefined)
    // Folders listed before the drive was left alone are listed again.
    await this.#pass(this.#settings.cacheTtlMs)
    // A refused move leaves its old name to others a while after its folder was looked at (shared seed 950443 with undo).
    if (isAnyMoved) {
      await this.#look(() => folders.look())
      await this.#pass(2 * this.#settings.cacheTtlMs)
    }
    // A document that was to be moved is shown where it was to go, and no longer where it is: as it is moved, or as
    // it was before it was written to (shared seed 1651222). No other document has content of these lengths.
    const { documents } = this.#service
    const hidden = left().flatMap(({ path, source = path, sourceFingerprint = '', size }) => {
      const lengths = [size, versionOf(source, sourceFingerprint).size]
      return source === path || lengths.includes(documents.get(source)?.bytes.length) ? [source] : []
    })
    await this.#look(() => folders.check(new Set([...refused, ...hidden])))
  }

  async #checkUndo(): Promise<void> {
    const { sb } = this.#drive
    if (sb?.undo.isOn === true)
      await this.#until('a look at what is kept', () => this.#keptForUndo.check(sb.undo, this.#service))
  }

  async #pin(): Promise<void> {
    const path = this.#pinned
    if (path === undefined) return
    const { signal } = new AbortController()
    await this.#until('a pin', async () => this.#drive.fileSystem?.pin(path, { signal }))
  }

  /** Pinned documents come here automatically, and are read while the service is away, also by a drive that began then. */
  async #beAway(): Promise<void> {
    const worker = this.#workers.find(({ folder }) => folder === this.#pinned)
    if (worker === undefined) return
    const pin = () => this.#drive.fileSystem?.pins().at(0)
    // Folders left alone for less than a listing lives may not have been looked at since.
    await this.#pass(this.#settings.cacheTtlMs)
    if (!(await this.#comesTo(() => pin()?.state === 'here')))
      throw new Error(`left alone, and not here: ${JSON.stringify(pin())}`)
    this.#note('the service is away')
    this.#network.weather = { ...fairWeather, isDown: true }
    const kind = this.#step.pick(['none', 'kill', 'remount'] as const)
    if (kind === 'none') await this.#pass(startTakesMs)
    else await this.#beginAgainAway(kind)
    this.#watched.forget()
    worker.forgetSeen()
    await this.#look(() => worker.check('left alone'))
    this.#network.weather = fairWeather
    this.#fairSince = this.#events.now
    if (!(await this.#comesTo(() => this.#drive.sb?.reach.isAway !== true)))
      throw new Error('left alone, and the service that is back is still taken to be away')
  }

  /** Lets time go by until it is so; false where it never comes to that. */
  async #comesTo(isSo: () => boolean): Promise<boolean> {
    const until = this.#events.now + quietWithinMs
    while (!isSo() && this.#events.now < until) await this.#pass(lookEveryMs)
    return isSo()
  }

  /** One program alone, and a service that is well: what it does costs what it may. */
  async #checkCalls(worker: Worker): Promise<void> {
    const documentCalls = (): number => {
      const { get, put, delete: deletes } = this.#service.calls
      return get + put + deletes
    }
    const before = documentCalls()
    const here = this.#drive.sb?.journal.localFiles.all() ?? []
    this.#done = []
    await this.#until('a last operation', () => worker.act())
    await this.#pass(10_000)
    const calls = documentCalls() - before
    const { tellsSizes, tellsUrlsInListings, tellsTypes, copiesByUri, keepsOrder, foldersVanish } =
      this.#service.habits
    const tellsAll = tellsSizes && tellsUrlsInListings && tellsTypes && copiesByUri
    const most = callsFor(this.#done, tellsAll, (path) => worker.model.under(path).length)
    const forNoOrder = callsToSeeNoOrder + (foldersVanish ? callsToSeeFolderGone : 0)
    // Of an earlier operation: a backup goes once its document is gone.
    const sent = here.filter(({ path }) => this.#service.documents.has(path))
    if (calls > most + sent.length * callsToSendTemporary + (keepsOrder ? 0 : forNoOrder))
      throw new Error(`${calls} calls for ${this.#done.map(({ kind, path }) => `${kind} ${path}`).join()}`)
  }

  /**
   * A look is tried a few times: an answer to what was asked in another weather may come in the middle of it, and a
   * drive that was away takes a while.
   */
  async #look<T>(look: () => Promise<T>): Promise<T> {
    for (let attempt = 1; ; attempt++) {
      try {
        return await this.#until('a look', look)
      } catch (error) {
        const { code = '' } = error as NodeJS.ErrnoException
        if (attempt === 5 || !['EIO', 'EACCES', 'ETIMEDOUT'].includes(code)) throw error
        await this.#pass(5_000)
      }
    }
  }

  /** Throws where the spool keeps more than the files that are on this machine only. */
  #checkSpool(refused: number): void {
    const here = this.#drive.fileSystem?.status().scratchFiles ?? 0
    const kept = contentsOf(this.#drive.platter)
    // Documents beside another client that the disk refused to save are not saved again: their contents may stay.
    const inFolders = this.#sharedFolders === undefined ? 0 : namesInFolders
    const besideOthers = this.#options.isShared === true ? sharedNames + inFolders : 0
    if (kept.length > here + refused + besideOthers)
      throw new Error(`left alone, ${kept.length} contents are kept for ${here} files: ${kept.join()}`)
  }

  #compareWithService(worker: Worker): void {
    const held = [...this.#service.documents].filter(([path]) => path.startsWith(`${worker.folder}/`))
    const tree = (entries: Iterable<[string, Buffer | undefined]>): Map<string, Buffer | undefined> =>
      new Map([...entries].filter(([path]) => !isLocalOnly(path)))
    compare(
      `in the service: ${worker.folder}`,
      tree(held.map(([path, { bytes }]) => [path, bytes])),
      tree(worker.model.documents()),
    )
  }

  async #idleHour(): Promise<void> {
    // Work that was left settles first, and listings are looked at once more.
    await this.#pass(quietWithinMs)
    const before = this.#callsSoFar()
    await this.#pass(3_600_000)
    const calls = this.#callsSoFar() - before
    // A file that may become a document is looked at again now and then.
    const here = this.#drive.fileSystem?.status().localOnly.length ?? 0
    if (calls > mostIdleCalls + here * 60)
      throw new Error(`${calls} calls in an hour in which nobody asked anything`)
  }

  #changesSoFar(): number {
    const { put, delete: deletes } = this.#service.calls
    return put + deletes
  }

  #callsSoFar(): number {
    return Object.values(this.#service.calls).reduce((sum, count) => sum + count)
  }

  #checkAlways(): void {
    const { sb, platter, fileSystem } = this.#drive
    if (sb !== undefined) checkShadow(sb)
    if (sb !== undefined) this.#kept.check(sb, platter, () => fileSystem?.status().scratchFiles ?? 0)
    const starved = this.#drive.sb?.queue.starved() ?? []
    if (starved.length > 0)
      throw new Error(`nobody will ever look at ${JSON.stringify(starved.map(({ intention }) => intention))}`)
  }

  /** Lets so much time go by. */
  async #pass(ms: number): Promise<void> {
    const until = this.#events.now + ms
    // Work begun just now comes to its first event.
    await promisesFollowed()
    while (this.#events.nextAt <= until) await this.#next()
    this.#events.now = until
  }

  /** Lets time go by until the work is done. */
  async #until<T>(what: string, work: () => Promise<T>): Promise<T> {
    const state = { isOver: false }
    const begun = this.#events.now
    const outcome = work().finally(() => (state.isOver = true))
    outcome.catch(() => {})
    // Work that needs no event is done without one.
    await promisesFollowed()
    while (!state.isOver) {
      if (!(await this.#next())) throw new Error(`${what} never comes: nothing will ever happen`)
      if (this.#events.now - begun > 2 * answerWithinMs) throw new Error(`${what} takes too long`)
    }
    return outcome
  }

  async #next(): Promise<boolean> {
    const isAny = await this.#events.next()
    if (this.#drive.sb?.reach.isAway === true) this.#awayAt = this.#events.now
    if (this.#failure !== undefined) throw this.#failure
    const oldest = this.#events.now - answerWithinMs
    if (this.#waitsSince() < oldest)
      for (const [index, since = Infinity] of this.#busySince.entries())
        if (since < oldest)
          throw new Error(
            `a program in /w${index} waits for ${Math.round((this.#events.now - since) / 1000)} s`,
          )
    return isAny
  }

  /** A program that waits for the service without limit has nothing to wait for once the service is well. */
  #waitsSince(): number {
    return this.#settings.closeWaitMs === Infinity ? this.#fairSince : 0
  }

  #note(line: string): void {
    const text = `${this.#events.now.toFixed(3)} ${line}`
    this.#unhashed += `${text}\n`
    if (this.#unhashed.length > hashedAtOnce) this.#hashRest()
    this.#history.push(text)
    if (this.#history.length > keptLines) this.#history.splice(0, keptLines / 2)
  }

  #hashRest(): void {
    this.#hash.update(this.#unhashed)
    this.#unhashed = ''
  }
}
