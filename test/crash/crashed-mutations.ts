// Several mutations at once on one drive, each in a folder of its own, the daemon killed in the middle of them; then what
// was told to the programs is compared with what the drive shows and what the service holds.

import { expect } from 'vitest'

import { Model, perform, type Operation } from '../model/model.ts'
import { startCrashingDrive, type CrashingDrive } from '../support/crashing-drive.ts'
import type { Gate } from '../support/gate.ts'
import type { TestService } from '../support/service.ts'
import { described, documentsOf, driveTree, serviceTree } from '../support/trees.ts'
import { waitUntil } from '../support/wait-until.ts'
import { placed, type Mutation } from './mutations.ts'

/** A mutation under way. */
export interface Run {
  readonly title: string
  readonly folder: string
  /** Models that may be true: after the calls that returned, and, while one had not, after that one too. */
  readonly possible: () => readonly Model[]
  /** Resolves when its program has made its last call, or the drive died under it. */
  readonly finished: Promise<void>
  readonly isFinished: () => boolean
}

export interface Scene {
  readonly testService: TestService
  readonly gate: Gate
  /** For state, cache and mountpoint. */
  readonly folder: string
  readonly runs: readonly Run[]
}

/** Puts what the mutations need into the service. */
export async function give(
  testService: TestService,
  mutations: readonly Mutation[],
  prefix: string,
): Promise<void> {
  for (const [index, mutation] of mutations.entries()) {
    const folder = `${prefix}-${index}`
    await testService.other.put(`${folder}/stays.txt`, 'stays')
    for (const [path, content] of placed(mutation, folder).given) await testService.other.put(path, content)
  }
}

/** Looks at everything, so that the calls from `watch` on are the mutations' own, then starts them all. */
export async function begin(
  drive: CrashingDrive,
  mutations: readonly Mutation[],
  prefix: string,
  watch: () => void = () => {},
): Promise<Run[]> {
  for (const index of mutations.keys()) await driveTree(drive.calls, `${prefix}-${index}`)
  watch()
  return mutations.map((mutation, index) => start(drive, mutation, `${prefix}-${index}`))
}

/** Of a drive that dies, and of a call that is kept back too long. */
const expectedErrors = new Set(['ECONNABORTED', 'ENOTCONN', 'EBUSY', 'EIO', 'ETIMEDOUT'])

function start(drive: CrashingDrive, mutation: Mutation, folder: string): Run {
  const { given, operations } = placed(mutation, folder)
  const model = new Model(
    new Map([...foldersOf(given.keys(), folder), ...given, [`${folder}/stays.txt`, Buffer.from('stays')]]),
  )
  let underWay: Operation | undefined
  let isFinished = false
  async function program(): Promise<void> {
    for (const operation of operations) {
      underWay = operation
      await perform(drive.calls, operation)
      model.apply(operation)
      underWay = undefined
    }
  }
  let failure: unknown
  const finished = program()
    .catch(async (error: NodeJS.ErrnoException) => {
      // The drive went away under it, or it waited in vain for a call that is kept back: what it was at may be done or not.
      if (expectedErrors.has(error.code ?? '')) return
      // The watchdog may have taken the dead mount away before we hear of the end: then the empty folder beneath answers.
      await waitUntil('the daemon to be dead', () => drive.hasEnded(), 5_000).catch(() => {
        failure = error
      })
    })
    .finally(() => {
      isFinished = true
    })
  return {
    title: mutation.title,
    folder,
    possible() {
      if (failure !== undefined)
        throw new Error(`${mutation.title} failed before the kill`, { cause: failure })
      if (underWay === undefined) return [model]
      const after = model.copy()
      after.apply(underWay)
      return [model, after]
    },
    finished,
    isFinished: () => isFinished,
  }
}

/** Mounts again, looks before anything can be sent, lets it send, and looks again. */
export async function expectNothingLost({ testService, gate, folder, runs }: Scene): Promise<void> {
  await gate.quiet()
  // The service stays as it is until the first look is over.
  gate.decide = ({ method }) => (method === 'GET' ? 'pass' : 'keep')
  const drive = await startCrashingDrive({ folder, baseUrl: gate.baseUrl, apiKey: testService.apiKey })
  try {
    for (const run of runs) {
      const shown = described(await driveTree(drive.calls, run.folder))
      expect(
        run.possible().map(({ tree }) => described(tree)),
        `${run.title}: shown at once`,
      ).toContainEqual(shown)
    }
    gate.decide = () => 'pass'
    gate.release()
    await drive.drain()
    for (const run of runs) {
      const tree = await driveTree(drive.calls, run.folder)
      const shown = described(tree)
      expect(
        run.possible().map((model) => described(model.tree)),
        `${run.title}: shown at the end`,
      ).toContainEqual(shown)
      const model = run
        .possible()
        .find((candidate) => JSON.stringify(described(candidate.tree)) === JSON.stringify(shown))
      const held = await serviceTree(testService.other, run.folder)
      expect(described(documentsOf(held)), `${run.title}: in the service`).toEqual(
        described(model?.documents() ?? new Map()),
      )
      const strays = [...held]
        .filter(([path, content]) => content === undefined && !tree.has(path))
        .map(([path]) => path)
      expect(strays, `${run.title}: folders only the service has`).toEqual([])
    }
    expect(await drive.unsent()).toEqual([])
    expect((await drive.status()).conflicts).toBe(0)
    await drive.unmount()
  } catch (error) {
    throw new Error(`${(error as Error).message}\n${drive.log().split('\n').slice(-20).join('\n')}`, {
      cause: error,
    })
  } finally {
    await drive.remove()
  }
}

/** The folders between `folder` and the documents. */
function foldersOf(paths: Iterable<string>, folder: string): Map<string, undefined> {
  const folders = new Map<string, undefined>()
  for (const path of paths) {
    for (let slash = path.lastIndexOf('/'); slash > folder.length; slash = path.lastIndexOf('/', slash - 1))
      folders.set(path.slice(0, slash), undefined)
  }
  return folders
}
