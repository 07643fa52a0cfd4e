// The power goes while programs save, rename and delete, with and without the service: `scripts/power-cut` does it often.

import { cp, readdir } from 'node:fs/promises'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'

import Database from 'libsql'
import { describe, expect, it } from 'vitest'

import { chance, type Chance } from '../model/chance.ts'
import { startCrashingDrive, type CrashingDrive } from '../support/crashing-drive.ts'
import { makeCutDisk, whyNoCutDisk } from '../support/cut-disk.ts'
import { whyNoFuse } from '../support/fuse.ts'
import { startTestService, type TestService } from '../support/service.ts'
import { makeTemporaryFolder } from '../support/temporary-folder.ts'
import { driveTree, serviceTree } from '../support/trees.ts'
import { waitUntil } from '../support/wait-until.ts'
import { isLocal, Work } from './power-cut-work.ts'

const cuts = Number(process.env['DOCMOUNT_POWER_CUTS'] ?? 3)
const seed = Number(process.env['DOCMOUNT_SEED'] ?? Date.now() % 1_000_000)
const whyNot = whyNoFuse() ?? whyNoCutDisk()
const isLong = process.env['DOCMOUNT_POWER_CUTS'] !== undefined

describe.skipIf(whyNot !== undefined)('power cuts', () => {
  it(
    'lose, double and tear nothing that was accepted',
    async () => {
      console.log(`DOCMOUNT_SEED=${seed}`)
      const figures = { cuts: 0, operations: 0, unsentAtCut: 0, awayAtCut: 0 }
      const failures: string[] = []
      for (let at = 0; at < cuts; at++) {
        const testService = await startTestService()
        try {
          const { problems, operations, unsent, isAway } = await cutOnce(testService, chance(seed + at))
          figures.cuts++
          figures.operations += operations
          figures.unsentAtCut += unsent
          figures.awayAtCut += Number(isAway)
          for (const problem of problems) {
            failures.push(`seed ${seed + at}: ${problem}`)
            if (isLong) console.log(failures.at(-1))
          }
        } finally {
          await testService.close()
        }
        if (isLong && (at + 1) % 10 === 0)
          console.log(JSON.stringify({ ...figures, problems: failures.length }))
      }
      console.log(JSON.stringify({ seed, ...figures, problems: failures.length }))
      expect(failures).toEqual([])
    },
    60_000 + cuts * 60_000,
  )
})

interface Outcome {
  readonly problems: readonly string[]
  readonly operations: number
  /** Changes that were journaled and not sent. */
  readonly unsent: number
  readonly isAway: boolean
}

async function cutOnce(testService: TestService, luck: Chance): Promise<Outcome> {
  const temporary = await makeTemporaryFolder()
  const state = join(temporary.path, 'state')
  const { baseUrl, apiKey } = testService
  // Long, so that what nobody synced is lost.
  const disk = await makeCutDisk(join(temporary.path, 'disk.img'), state, luck.pick([5, 600]))
  let drive: CrashingDrive | undefined
  try {
    const args = luck.pick([[], [], ['--close-wait', '0'], ['--close-wait', '300ms']])
    drive = await startCrashingDrive({ folder: temporary.path, baseUrl, apiKey, args })
    const works = Array.from({ length: 4 }, (_, at) => new Work(`/w${at}`, luck))
    for (const { folder } of works) await drive.calls.mkdir(folder)
    const running = works.map((work) => runUntilCut(work, drive as CrashingDrive))
    if (luck.random() < 0.5)
      testService.service.faults.inject({ kind: 'latency', ms: luck.below(150) }, { endpoint: 'files' })
    await sleep(300 + luck.below(2_500))
    const isAway = luck.random() < 0.4
    if (isAway) await testService.stop()
    if (isAway) await sleep(luck.below(1_500))
    await disk.cut(drive.pid)
    await drive.kill()
    await Promise.all(running)
    await drive.remove()
    await disk.repower()
    const journaled = await intentionsIn(state, join(temporary.path, 'look'))
    if (isAway) await testService.start()
    testService.service.faults.clear()
    drive = await startCrashingDrive({ folder: temporary.path, baseUrl, apiKey })
    const unsent = Number(/"intentions":(\d+)/.exec(drive.log())?.[1] ?? 0)
    const problems = await problemsOf(testService, drive, works)
    if (problems.length > 0)
      problems.push(drive.log().slice(-3_000), ...about(problems, journaled, testService))
    return {
      problems,
      operations: works.reduce((sum, work) => sum + work.operations, 0),
      unsent,
      isAway,
    }
  } finally {
    await drive?.remove()
    await disk.unmount()
    await temporary.remove()
  }
}

/** Intentions that the cut left in the journal, read in a copy: the drive recovers the original afterwards. */
async function intentionsIn(stateDir: string, copy: string): Promise<string[]> {
  await cp(stateDir, copy, { recursive: true, filter: (path) => !/(lock|listings)\.db|spool/.test(path) })
  const [drive] = await readdir(join(copy, 'docmount'))
  const db = new Database(join(copy, 'docmount', drive ?? '', 'journal.db'))
  const rows = db.prepare('select * from intention order by id').all() as Record<string, unknown>[]
  const scratch = db.prepare('select * from scratch').all()
  db.close()
  return [...rows, ...scratch].map((row) => JSON.stringify(row))
}

/** Rows of the journal, and calls to the service, about the documents in question, in order. */
function about(
  problems: readonly string[],
  journaled: readonly string[],
  testService: TestService,
): string[] {
  const inQuestion = new Set(problems.flatMap((problem) => problem.match(/\/w\d\/f\d+\.\w+/g) ?? []))
  const concerns = (line: string): boolean => [...inQuestion].some((path) => line.includes(path))
  const calls = testService.service.calls.map(
    ({ method, path, status }) => `${method} ${path} ${status ?? 'unanswered'}`,
  )
  return [...journaled, ...calls].filter(concerns)
}

async function runUntilCut(work: Work, drive: CrashingDrive): Promise<void> {
  while (!drive.hasEnded()) {
    try {
      await work.act(drive.calls)
    } catch {
      // Cut off, or kept from the service for too long: done, or not done. Later states would be unknown.
      return
    }
  }
}

/** The drive is asked nothing: it has to become quiet automatically. */
async function problemsOf(
  testService: TestService,
  drive: CrashingDrive,
  works: readonly Work[],
): Promise<string[]> {
  try {
    await waitUntil('the drive to become quiet', async () => (await drive.unsent()).length === 0)
  } catch (error) {
    return [`${(error as Error).message}: ${JSON.stringify(await drive.unsent())}`]
  }
  const shown = await driveTree(drive.calls, '')
  const held = await serviceTree(testService.other, '')
  const problems = works.flatMap((work) => work.problems(shown))
  for (const [path, content] of shown) {
    if (content === undefined || isLocal(path)) continue
    if (held.get(path)?.equals(content) !== true) problems.push(`not in the service: ${path}`)
  }
  for (const [path, content] of held)
    if (content !== undefined && !shown.has(path)) problems.push(`in the service, not shown: ${path}`)
  return problems
}
