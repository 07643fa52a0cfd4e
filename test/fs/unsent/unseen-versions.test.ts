// Which versions of other clients' a save may replace, by the programs here that read them, or were shown them, and when.

import { join } from 'node:path'
import { describe, expect, it } from 'vitest'

import { createClient } from '../../../src/api/client.ts'
import type { FileSystem } from '../../../src/fs/contract.ts'
import { createFileSystem } from '../../../src/fs/file-system.ts'
import type { Clock } from '../../../src/world/clock.ts'
import { createClock } from '../../../src/world/clock.ts'
import { realWorld } from '../../../src/world/world.ts'
import type { Calls } from '../../support/door.ts'
import { objectDoor } from '../../support/object-door.ts'
import { openHeld, type HeldDrive } from '../../support/open-held.ts'
import type { OtherClient } from '../../support/other-client.ts'
import { savePatterns } from '../../support/save-patterns.ts'
import { project, startTestService } from '../../support/service.ts'
import { makeTemporaryFolder } from '../../support/temporary-folder.ts'

interface Drive extends HeldDrive {
  /** Time goes on by so much (s). */
  pass(seconds: number): void
  /** The calls of a program of its own. */
  by(program: string): Calls
  /** The contents of the conflict copies, and of the document. */
  held(): Promise<{ document: string | undefined; beside: string[] }>
}

async function openDrive(given: Readonly<Record<string, string>>): Promise<Drive> {
  let passedMs = 0
  const clock: Clock = createClock(() => Date.now() + passedMs)
  const drive = await openHeld(given, { world: { ...realWorld(), clock } })
  return {
    ...drive,
    pass: (seconds) => void (passedMs += seconds * 1_000),
    by: (program) => objectDoor(drive.fileSystem(), program),
    async held() {
      await drive.drain()
      const documents = [...((await drive.testService.other.documents('/d')) ?? [])]
      const text = (wanted: (name: string) => boolean): string[] =>
        documents.filter(([name]) => wanted(name)).map(([, bytes]) => bytes.toString())
      return {
        document: text((name) => name === 'f.txt')[0],
        beside: text((name) => name.includes('(conflict')),
      }
    },
  }
}

const given = { '/d/f.txt': 'v1', '/d/g.txt': 'g' }
const kept = { document: 'ours', beside: ['their v2'] }
const replaced = { document: 'ours', beside: [] }

describe.each(savePatterns)('a save by $name', ({ save }) => {
  it('keeps what another client stored since it was read, 36 s ago', async () => {
    await using drive = await openDrive(given)
    await drive.by('editor').readFile('/d/f.txt')
    await drive.testService.other.put('/d/f.txt', 'their v2')
    drive.pass(36)
    await save(drive.by('editor'), '/d/f.txt', 'ours')
    expect(await drive.held()).toEqual(kept)
  })

  it('keeps it also where the older one was only shown', async () => {
    await using drive = await openDrive(given)
    await drive.by('ls').readdir('/d')
    drive.pass(3)
    await drive.testService.other.put('/d/f.txt', 'their v2')
    drive.pass(36)
    await save(drive.by('cp'), '/d/f.txt', 'ours')
    expect(await drive.held()).toEqual(kept)
  })

  it('replaces what another process was shown', async () => {
    await using drive = await openDrive(given)
    await drive.testService.other.put('/d/f.txt', 'their v2')
    await drive.by('ls').readdir('/d')
    await save(drive.by('cp'), '/d/f.txt', 'ours')
    expect(await drive.held()).toEqual(replaced)
  })

  it('replaces what its own process was shown more than two seconds before', async () => {
    await using drive = await openDrive(given)
    await drive.testService.other.put('/d/f.txt', 'their v2')
    await drive.by('shell').stat('/d/f.txt')
    drive.pass(2.5)
    await save(drive.by('shell'), '/d/f.txt', 'ours')
    expect(await drive.held()).toEqual(replaced)
  })

  it('keeps what its own process was shown less than two seconds before', async () => {
    await using drive = await openDrive(given)
    await drive.by('ls').readdir('/d')
    drive.pass(36)
    await drive.testService.other.put('/d/f.txt', 'their v2')
    await drive.by('shell').stat('/d/f.txt')
    drive.pass(1.5)
    await save(drive.by('shell'), '/d/f.txt', 'ours')
    expect(await drive.held()).toEqual(kept)
  })

  it('keeps what another program read, where this one has read an older version itself', async () => {
    await using drive = await openDrive(given)
    await drive.by('editor').readFile('/d/f.txt')
    await drive.testService.other.put('/d/f.txt', 'their v2')
    drive.pass(36)
    expect((await drive.by('viewer').readFile('/d/f.txt')).toString()).toBe('their v2')
    await save(drive.by('editor'), '/d/f.txt', 'ours')
    expect(await drive.held()).toEqual(kept)
    // The version there is its own now.
    await save(drive.by('editor'), '/d/f.txt', 'ours')
    expect(await drive.held()).toEqual(kept)
  })

  it('replaces what any program here read since, where it has read none itself', async () => {
    await using drive = await openDrive(given)
    await drive.by('viewer').readFile('/d/f.txt')
    await drive.testService.other.put('/d/f.txt', 'their v2')
    drive.pass(36)
    await drive.by('viewer').readFile('/d/f.txt')
    await save(drive.by('cp'), '/d/f.txt', 'ours')
    expect(await drive.held()).toEqual(replaced)
  })

  it('replaces what other programs here saved, whatever it has read itself', async () => {
    await using drive = await openDrive(given)
    await drive.by('editor').readFile('/d/f.txt')
    await save(drive.by('formatter'), '/d/f.txt', 'formatted')
    await drive.drain()
    await save(drive.by('editor'), '/d/f.txt', 'ours')
    expect(await drive.held()).toEqual(replaced)
  })

  it('replaces over restarts what was there when the drive ended, and keeps what came meanwhile', async () => {
    await using drive = await openDrive({ ...given, '/d/f.txt': 'their v2' })
    await drive.by('ls').readdir('/d')
    await drive.restart()
    await save(drive.by('cp'), '/d/f.txt', 'ours before')
    await drive.drain()
    await drive.restartKilled()
    await save(drive.by('cp'), '/d/f.txt', 'ours')
    expect(await drive.held()).toEqual(replaced)
    await drive.restart()
    await drive.testService.other.put('/d/f.txt', 'their v2')
    await drive.by('cat').readFile('/d/g.txt')
    drive.pass(36)
    await drive.by('cat').readFile('/d/g.txt')
    await save(drive.by('cp'), '/d/f.txt', 'ours')
    expect(await drive.held()).toEqual(kept)
  })
})

it('what stood in a folder before the drive was mounted for the first time counts as shown, what came since does not', async () => {
  await using drive = await openDrive(given)
  await drive.by('cp').writeFile('/d/f.txt', 'ours')
  expect(await drive.held()).toEqual(replaced)
  await drive.testService.other.put('/d/new.txt', 'theirs')
  drive.pass(36)
  await drive.by('cp').writeFile('/d/new.txt', 'ours')
  expect((await drive.held()).beside).toEqual(['theirs'])
})

it('a delete leaves a version that was shown to nobody but its own program, just now', async () => {
  await using drive = await openDrive(given)
  await drive.by('cat').readFile('/d/f.txt')
  await drive.testService.other.put('/d/f.txt', 'their v2')
  drive.pass(36)
  await drive.by('rm').unlink('/d/f.txt')
  expect(await drive.held()).toEqual({ document: 'their v2', beside: [] })
})

it('a delete takes what was shown, whatever was read before', async () => {
  await using drive = await openDrive(given)
  await drive.by('cat').readFile('/d/f.txt')
  await drive.testService.other.put('/d/f.txt', 'their v2')
  drive.pass(36)
  await drive.by('ls').readdir('/d')
  await drive.by('rm').unlink('/d/f.txt')
  expect(await drive.held()).toEqual({ document: undefined, beside: [] })
})

it('two drives that make the same forty documents at once, three times, keep every version at its name or beside it', async () => {
  await using service = await openService()
  await service.other.put('/d/before.txt', 'before')
  await using one = await service.drive('one')
  await using two = await service.drive('two')
  const versions: string[] = []
  for (let round = 1; round <= 3; round++) {
    const makeAll = async ({ calls }: typeof one, name: string): Promise<void> => {
      for (let n = 1; n <= 40; n++) {
        const content = `round ${round}, ${n}, of ${name}`
        versions.push(content)
        await calls.writeFile(`/d/${round}-${n}.txt`, content)
      }
    }
    await Promise.all([makeAll(one, 'one'), makeAll(two, 'two')])
  }
  for (const { fileSystem } of [one, two]) expect(await fileSystem.drain({ timeoutMs: 60_000 })).toEqual([])
  const documents = [...((await service.other.documents('/d'))?.values() ?? [])].map(String)
  expect(versions.filter((content) => !documents.includes(content))).toEqual([])
  expect(documents).toHaveLength(versions.length + 1)
})

/** A service, and drives of it, each with a state folder and a program of its own. */
async function openService(): Promise<
  AsyncDisposable & {
    readonly other: OtherClient
    drive(name: string): Promise<AsyncDisposable & { readonly fileSystem: FileSystem; readonly calls: Calls }>
  }
> {
  const temporary = await makeTemporaryFolder()
  const service = await startTestService()
  return {
    other: service.other,
    async drive(name) {
      const client = createClient({ baseUrl: service.baseUrl, apiKey: service.apiKey })
      const fileSystem = await createFileSystem({
        files: client.files(project),
        stateDir: join(temporary.path, name, 'state'),
        cacheDir: join(temporary.path, name, 'cache'),
        hostName: name,
      })
      return {
        fileSystem,
        calls: objectDoor(fileSystem, name),
        async [Symbol.asyncDispose]() {
          await fileSystem.close()
          await client.close()
        },
      }
    },
    async [Symbol.asyncDispose]() {
      await service.close()
      await temporary.remove()
    },
  }
}
