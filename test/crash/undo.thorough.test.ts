// The daemon is killed, or the power goes, at every call it makes to the service for a delete, a replace, a move into the trash and
// back, and a restore: each version is found afterwards, with the service, in the trash or in the undo store.

import { join } from 'node:path'
import { describe, expect, it } from 'vitest'

import { ask } from '../../src/daemon/control-client.ts'
import { socketOf } from '../support/ask-daemon.ts'
import { patternedBytes } from '../support/bytes.ts'
import { startCrashingDrive, type CrashingDrive } from '../support/crashing-drive.ts'
import { makeCutDisk, whyNoCutDisk } from '../support/cut-disk.ts'
import { whyNoFuse } from '../support/fuse.ts'
import { makeTemporaryFolder } from '../support/temporary-folder.ts'
import { driveTree, serviceTree } from '../support/trees.ts'
import { waitUntil } from '../support/wait-until.ts'
import { useGatedService } from './gated-service.ts'

interface Story {
  readonly title: string
  /** Done before anything is held back. */
  readonly before?: (drive: CrashingDrive, folder: string, socket: string) => Promise<void>
  readonly program: (drive: CrashingDrive, folder: string, socket: string) => Promise<unknown>
  /** Content that the program saves: to be found once the program has heard that it is saved. */
  readonly saves?: Buffer
}

const trash = '/.Trash-4242/files'
const inTrash = (folder: string): string => `${trash}${folder}.pdf`

const stories = (old: Buffer, fresh: Buffer): readonly Story[] => [
  { title: 'rm', program: ({ calls }, folder) => calls.unlink(`${folder}/a.pdf`) },
  {
    title: 'save over',
    program: ({ calls }, folder) => calls.writeFile(`${folder}/a.pdf`, fresh),
    saves: fresh,
  },
  {
    title: 'rename over',
    before: ({ calls }, folder) => calls.writeFile(`${folder}/.goutputstream-AB12CD`, fresh),
    program: ({ calls }, folder) => calls.rename(`${folder}/.goutputstream-AB12CD`, `${folder}/a.pdf`),
    saves: fresh,
  },
  { title: 'to the trash', program: ({ calls }, folder) => calls.rename(`${folder}/a.pdf`, inTrash(folder)) },
  {
    title: 'a folder to the trash',
    program: ({ calls }, folder) => calls.rename(folder, inTrash(folder)),
  },
  {
    title: 'back from the trash',
    async before({ calls, drain }, folder) {
      await calls.rename(`${folder}/a.pdf`, inTrash(folder))
      await drain()
    },
    program: ({ calls }, folder) => calls.rename(inTrash(folder), `${folder}/a.pdf`),
  },
  {
    title: 'restore over a newer version',
    async before({ calls, drain }, folder) {
      await calls.writeFile(`${folder}/a.pdf`, fresh)
      await drain()
    },
    program: (_drive, folder, socket) => ask(socket, 'restore', { path: `${folder}/a.pdf` }),
    saves: old,
  },
]

const sizes = { 'of a few bytes': 12, 'of several blocks': 300_000 }
const steps = [1, 2, 3]
const whyNoCut = whyNoCutDisk()

describe.skipIf(whyNoFuse() !== undefined)('undo', () => {
  const gated = useGatedService()

  for (const [size, bytes] of Object.entries(sizes)) {
    for (const verdict of ['keep', 'keep-answer'] as const) {
      for (const step of steps) {
        const where = verdict === 'keep' ? 'before' : 'after'
        it(`killed ${where} call ${step}: each version ${size} is found`, () => endAt(verdict, step, bytes))
      }
    }
    for (const verdict of ['keep', 'keep-answer'] as const)
      it.skipIf(whyNoCut !== undefined)(
        `the power goes at the DELETE, ${verdict}: each version ${size} is found`,
        () => endAt(verdict, 'delete', bytes),
      )
  }

  async function endAt(
    verdict: 'keep' | 'keep-answer',
    step: number | 'delete',
    bytes: number,
  ): Promise<void> {
    const [old, fresh] = [patternedBytes(bytes, 'old'), patternedBytes(bytes + 1, 'fresh')]
    // A restore syncs what was kept before it.
    const all = stories(old, fresh).filter(({ title }) => step !== 'delete' || !title.startsWith('restore'))
    const prefix = `/${verdict}-${step}-${bytes}`
    const folders = all.map((_, at) => `${prefix}-${at}`)
    const temporary = await makeTemporaryFolder()
    const disk =
      step === 'delete'
        ? await makeCutDisk(join(temporary.path, 'disk.img'), join(temporary.path, 'state'), 600)
        : undefined
    gated.gate.decide = () => 'pass'
    for (const folder of folders) await gated.testService.other.put(`${folder}/a.pdf`, old)
    const options = {
      folder: temporary.path,
      baseUrl: gated.gate.baseUrl,
      apiKey: gated.testService.apiKey,
      args: ['--undo', '30d', '--close-wait', '1s', '--cache-ttl', '10m'],
    }
    let drive = await startCrashingDrive(options)
    try {
      const socket = await socketOf(temporary.path)
      await drive.calls.mkdir('/.Trash-4242')
      await drive.calls.mkdir(trash)
      for (const folder of folders) await driveTree(drive.calls, folder)
      for (const [at, story] of all.entries()) await story.before?.(drive, folders[at] ?? '', socket)
      const counts = new Map<string, number>()
      const held = new Set<string>()
      gated.gate.decide = ({ path, method }) => {
        const folder = /^\/[^/]+/.exec(path)?.[0] ?? ''
        const count = (counts.get(folder) ?? 0) + 1
        counts.set(folder, count)
        const isHeld = step === 'delete' ? method === 'DELETE' : count >= step
        if (!isHeld) return 'pass'
        const isFirst = !held.has(folder)
        held.add(folder)
        return isFirst ? verdict : 'keep'
      }
      const finished = new Set<number>()
      const programs = all.map((story, at) =>
        story.program(drive, folders[at] ?? '', socket).then(
          () => void finished.add(at),
          () => {},
        ),
      )
      await waitUntil('every change to be sent, or held, or the service to be taken for away', async () => {
        if ((await drive.status()).service === 'away') return true
        for (const [at, folder] of folders.entries()) {
          await drive.runNow(folder)
          const isSent = finished.has(at) && (await drive.unsent(folder)).length === 0
          if (!isSent && !held.has(folder)) return false
        }
        return true
      })
      await (disk === undefined ? drive.kill() : disk.cut(drive.pid))
      await drive.kill()
      await Promise.all(programs)
      await drive.remove()
      await disk?.repower()
      gated.gate.decide = () => 'pass'
      gated.gate.release()
      await gated.gate.quiet()
      drive = await startCrashingDrive(options)
      await drive.drain()
      const found = await findVersions(drive, await socketOf(temporary.path), prefix)
      for (const [at, { title, saves }] of all.entries()) {
        const versions = found(folders[at] ?? '')
        expect(
          versions.some((version) => version.equals(old)),
          `${title}: the old version`,
        ).toBe(true)
        if (saves !== undefined && finished.has(at))
          expect(
            versions.some((version) => version.equals(saves)),
            `${title}: the new version`,
          ).toBe(true)
      }
      await drive.unmount()
    } catch (error) {
      throw new Error(`${(error as Error).message}\n${drive.log().split('\n').slice(-20).join('\n')}`, {
        cause: error,
      })
    } finally {
      gated.gate.decide = () => 'pass'
      gated.gate.release()
      await drive.remove()
      await disk?.unmount()
      await temporary.remove()
    }
  }

  /** All contents that were at a folder's document, wherever they are now. */
  async function findVersions(
    drive: CrashingDrive,
    socket: string,
    prefix: string,
  ): Promise<(folder: string) => Buffer[]> {
    const places = new Map<string, Buffer>()
    const add = (tree: ReadonlyMap<string, Buffer | undefined>): void => {
      for (const [path, content] of tree) if (content !== undefined) places.set(path, content)
    }
    add(await driveTree(drive.calls, trash))
    const { former } = await ask(socket, 'former', { path: '/' })
    for (const [at, { path, at: time, missing }] of former.entries())
      if (missing === undefined && path.startsWith(prefix))
        await ask(socket, 'restore', { path, at: time, to: `/found-${at}${path}` })
    await drive.drain()
    add(await serviceTree(gated.testService.other, ''))
    return (folder) => [...places].filter(([path]) => path.includes(folder)).map(([, content]) => content)
  }
})
