// Programs at work on a drive, another client, a service in trouble and a daemon that is killed: for a while, from one
// seed. Lost content is thrown as a Loss, with all that happened to its path.

import { setTimeout as sleep } from 'node:timers/promises'

import type { Call } from '../support/faults/fault.ts'
import type { Unsent } from '../../src/fs/status.ts'
import { startCrashingDrive, type CrashingDrive } from '../support/crashing-drive.ts'
import type { TestService } from '../support/service.ts'
import { serviceTree } from '../support/trees.ts'
import { waitUntil } from '../support/wait-until.ts'
import { chance } from './chance.ts'
import type { Action } from './choices.ts'
import { isLocalOnly } from './model.ts'
import { Quarrels } from './quarrels.ts'
import { Troublemaker } from './trouble.ts'
import { Loss } from './loss.ts'
import { compare, isConflictCopy, Worker } from './worker.ts'

/** The longest pause between two attempts after some seconds of trouble, and the sending itself. */
const quietWithinMs = 90_000
const quietEveryKills = 2

export interface SimulationOptions {
  readonly testService: TestService
  /** For state, cache and mountpoint. */
  readonly folder: string
  readonly seed: number
  readonly durationMs: number
  readonly workers: number
  /** Folder renames too: what is open of them is in docs/reliability.md. */
  readonly renamesFolders: boolean
  /** Between two kills, on average; Infinity for none. */
  readonly killEveryMs: number
  readonly onProgress?: (figures: Figures) => void
}

export interface Figures {
  readonly operations: number
  readonly faults: number
  readonly kills: number
  readonly quarrels: number
  /** Times the drive was left alone until it was quiet by itself. */
  readonly quietPeriods: number
  /** Versions of another client kept beside ours. */
  readonly conflicts: number
  /** Conflict copies where there was no other client: harmless, but nobody asked for them. */
  readonly doubled: number
}

/** Resolves with what was done when nothing was lost; throws a Loss otherwise. */
export async function simulate(options: SimulationOptions): Promise<Figures> {
  const { testService, folder, seed } = options
  const luck = chance(seed)
  const trouble = new Troublemaker(testService, chance(seed + 1))
  const history: { at: number; who: string; what: string }[] = []
  let operations = 0
  let kills = 0
  let quietPeriods = 0
  let working = 0
  let conflicts = 0
  let doubled = 0
  let drive = await start()
  const earlierLogs: string[] = []
  const calls: { at: number; call: Call }[] = []
  const noting = setInterval(noteCalls, 20)
  let ready: Promise<void> = Promise.resolve()
  const over = new AbortController()
  let isDead = false

  function start(): Promise<CrashingDrive> {
    return startCrashingDrive({
      folder,
      baseUrl: testService.baseUrl,
      apiKey: testService.apiKey,
      args: ['--cache-ttl', '2s', '--close-wait', luck.pick(['0', '200ms', '1s'])],
    })
  }
  /** The service keeps no times; to the nearest 20 ms is enough to tell a story. */
  function noteCalls(): void {
    for (const call of testService.service.calls.slice(calls.length)) calls.push({ at: Date.now(), call })
  }
  const note = (who: string, what: string): void => {
    history.push({ at: Date.now(), who, what })
    if (history.length > 200_000) history.splice(0, 100_000)
  }
  const figures = (): Figures => ({
    operations,
    faults: trouble.hits,
    kills,
    quietPeriods,
    quarrels: quarrels.count,
    conflicts,
    doubled,
  })

  const workers = Array.from({ length: options.workers }, (_, index) => {
    const path = `/w${index}`
    return new Worker({
      renamesFolders: options.renamesFolders,
      folder: path,
      chance: chance(seed * 1_000 + index),
      calls: () => drive.calls,
      life: () => (isDead ? undefined : kills),
      onAction(action) {
        operations++
        note(path, lineOf(action))
      },
    })
  })
  const quarrels = new Quarrels({
    folder: '/both',
    other: testService.other,
    trouble,
    chance: chance(seed + 2),
  })

  async function work(worker: Worker): Promise<void> {
    while (!over.signal.aborted) {
      await ready
      await counted(() => worker.act())
    }
  }

  async function counted(body: () => Promise<void>): Promise<void> {
    working++
    try {
      await body()
    } finally {
      working--
    }
  }

  /** The service is well, and no program asks the drive for anything: it has to send everything automatically. */
  async function leaveAlone(): Promise<void> {
    note('*', 'left alone')
    await waitUntil('the programs to pause', () => working === 0, 120_000)
    const waits = await waitUntil(
      'the drive to become quiet by itself',
      async () => (await drive.unsent()).length === 0,
      quietWithinMs,
    ).then(
      () => undefined,
      (error: Error) => error,
    )
    if (waits !== undefined) throw new Loss(waits.message)
    for (const worker of workers) {
      if (await worker.check('left alone')) await compareWithService(worker)
    }
    quietPeriods++
  }

  async function compareWithService(worker: Worker): Promise<void> {
    const held = await serviceTree(testService.other, worker.folder)
    const copies = [...held.keys()].filter(isConflictCopy)
    doubled += copies.length
    if (copies.length > 0)
      throw new Loss(
        `doubled, though no other client writes there: ${copies.map((copy) => `${copy} (${copy.replace(/ \(conflict [^)]*\)/, '')} )`).join(', ')}`,
      )
    const documents = [...held].filter(([, content]) => content !== undefined)
    compare(
      `in the service: ${worker.folder}`,
      new Map(documents.filter(([path]) => !isLocalOnly(path))),
      new Map([...worker.model.documents()].filter(([path]) => !isLocalOnly(path))),
    )
    // A backup is one here, or, where it had no successor for a while, a document.
    for (const [path, content] of documents)
      if (isLocalOnly(path))
        compare(
          'a backup in the service',
          new Map([[path, content]]),
          new Map([[path, worker.model.tree.get(path)]]),
        )
  }

  async function quarrel(): Promise<void> {
    while (!over.signal.aborted) {
      await ready
      operations += 4
      await counted(() => quarrels.have(drive.calls))
      await sleep(200)
    }
  }

  async function killNowAndThen(): Promise<void> {
    const until = Date.now() + options.durationMs
    while (!over.signal.aborted && Date.now() < until) {
      const pauseMs =
        options.killEveryMs === Infinity ? Infinity : options.killEveryMs * (0.5 + luck.random())
      const next = Math.min(until, Date.now() + pauseMs)
      while (!over.signal.aborted && Date.now() < next) {
        await sleep(Math.min(1_000, Math.max(0, next - Date.now())))
        options.onProgress?.(figures())
      }
      if (over.signal.aborted || next === until) break
      let revived: () => void = () => {}
      ready = new Promise((resolve) => {
        revived = resolve
      })
      kills++
      isDead = true
      note('*', 'kill -9')
      try {
        await drive.kill()
        earlierLogs.push(drive.log())
        await trouble.without(async () => {
          drive = await start()
          isDead = false
          note('*', 'mounted again')
          for (const worker of workers) await worker.check('right after a kill')
          if (kills % quietEveryKills === 0) await leaveAlone()
        })
      } finally {
        revived()
      }
    }
    over.abort()
  }

  try {
    for (const worker of workers) await drive.calls.mkdir(worker.folder)
    await testService.other.put('/both/here.txt', 'so that the folder is there')
    trouble.begin()
    const all = [...workers.map(work), quarrel(), killNowAndThen()]
    try {
      await Promise.all(all)
    } catch (error) {
      over.abort()
      await Promise.allSettled(all)
      throw error
    } finally {
      trouble.end()
    }
    await leaveAlone()
    for (const worker of workers)
      if (!(await worker.check('at the end'))) throw new Loss(`${worker.folder}: a call stays in doubt`)
    quarrels.check(await serviceTree(testService.other, '/both'))
    conflicts = (await drive.status()).conflicts
    return figures()
  } catch (error) {
    throw explained(error as Error, await drive.unsent().catch(() => []))
  } finally {
    clearInterval(noting)
    await drive.remove()
  }

  /** The paths, and what was renamed to them in the last seconds, folders above them included. */
  function withEarlierNames(paths: readonly string[]): string[] {
    const names = new Set(paths.flatMap((path) => [path, path.slice(0, path.lastIndexOf('/'))]))
    for (const { at, what } of history.toReversed()) {
      const [, from, to] = /^rename (\S+) → (\S+)$/.exec(what) ?? []
      if (from === undefined || to === undefined || names.size > 12 || at < Date.now() - 60_000) continue
      for (const name of names)
        if (name === to || name.startsWith(`${to}/`)) names.add(from + name.slice(to.length))
    }
    return [...names]
  }

  /** All that happened to the paths a failure names, in order. */
  function explained(error: Error, unsent: readonly Unsent[]): Error {
    // Documents tell more than folders.
    const refused = unsent.filter(({ state }) => state === 'refused').map(({ lastError }) => lastError ?? '')
    const named = [error.message, ...refused].join('\n')
    const paths = withEarlierNames(
      [...new Set(named.match(/\/(?:w\d+|both)\/[^\s:,"'~\]]+/g) ?? [])]
        .sort((a, b) => Number(b.includes('.')) - Number(a.includes('.')))
        .slice(0, 4),
    )
    const related = history
      .filter(
        ({ who, what }) =>
          who === '*' ||
          paths.some((path) => what.includes(path)) ||
          paths.some((path) => path.includes(`${/^rename (\S+) →/.exec(what)?.[1]}/`)),
      )
      .map(({ at, who, what }) => ({ at, line: `${who} ${what}` }))
    const asked = calls
      .filter(({ call }) => paths.includes(call.path))
      .map(({ at, call }) => ({ at, line: `    ${call.method} ${call.path} ${call.status ?? 'unanswered'}` }))
    const log = [...earlierLogs, drive.log()].join('\n').split('\n')
    let at = Number.NaN
    const logged = log
      .map((line) => {
        const time = Date.parse(/"time":"([^"]+)"/.exec(line)?.[1] ?? '')
        // A line without a time was printed right after one with a time.
        at = Number.isNaN(time) ? at : time
        return { at, line }
      })
      .filter(({ line }) => paths.some((path) => line.includes(path)) || isAboutTheDrive(line))
      .map(({ at, line }) => ({ at, line: `    ${line}` }))
    const story = [...related, ...asked, ...logged]
      .filter(({ at }) => !Number.isNaN(at))
      .sort((a, b) => a.at - b.at)
    const lines = [
      ...story.slice(-100).map(({ at, line }) => `${new Date(at).toISOString().slice(11, 23)} ${line}`),
      'unsent:',
      ...unsent.map(
        (change) => `  ${change.action} ${change.path} ${change.state} ${change.lastError ?? ''}`,
      ),
    ]
    const explanation = `${error.message}\nseed ${seed}; ${JSON.stringify(figures())}\n${lines.join('\n')}`
    return error instanceof Loss ? new Loss(explanation) : new Error(explanation, { cause: error })
  }
}

/** A drive that ends, or was ended, says why; whatever is no line of the log was said by something that failed badly. */
function isAboutTheDrive(line: string): boolean {
  return (
    line !== '' &&
    (!line.startsWith('{') || /"level":"(?:warn|error|fatal)"|"msg":"(?:stopping|ended)"/.test(line))
  )
}

function lineOf(action: Action): string {
  if (action.kind === 'rename') return `rename ${action.path} → ${action.to}`
  if (action.kind === 'truncate') return `truncate ${action.path} ${action.size}`
  if ('content' in action) return `${action.kind} ${action.path} ${action.content.length} bytes`
  return `${action.kind} ${action.path}`
}
