// Locks of LibreOffice and Office between two drives of one project (`--share-locks`), each a filesystem object of its own.

import { join } from 'node:path'
import { afterEach, beforeEach, expect, it } from 'vitest'
import { createClient, type Client } from '../../../src/api/client.ts'
import type { Change } from '../../../src/fs/change.ts'
import type { FileSystem, FileSystemOptions } from '../../../src/fs/contract.ts'
import { createFileSystem } from '../../../src/fs/file-system.ts'
import { createClock } from '../../../src/world/clock.ts'
import { realWorld, type World } from '../../../src/world/world.ts'
import type { Calls } from '../../support/door.ts'
import { objectDoor } from '../../support/object-door.ts'
import { borrowTestService, type TestService } from '../../support/service.ts'
import { makeTemporaryFolder, type TemporaryFolder } from '../../support/temporary-folder.ts'
import { waitUntil } from '../../support/wait-until.ts'

const lock = '/.~lock.a.xlsx#'
const halfDayMs = 12 * 3_600_000
const noon = Date.parse('2026-11-27T12:00Z')

interface Machine {
  readonly fileSystem: FileSystem
  readonly calls: Calls
  readonly changes: readonly Change[]
  /** Epoch ms, as this machine sees it. */
  now: number
  /** False: the program that makes files here has ended. */
  isProgramRunning: boolean
  /** A minute has passed. */
  minute(): void
  /** Ends the drive; `kill`: as a crash does, so that it can neither send nor write anything. */
  end(how?: 'kill'): Promise<void>
}

let service: TestService
let client: Client
let temporary: TemporaryFolder
let machines: Machine[] = []

beforeEach(async () => {
  service = await borrowTestService()
  client = createClient({ baseUrl: service.baseUrl, apiKey: service.apiKey })
  temporary = await makeTemporaryFolder()
})
afterEach(async () => {
  for (const machine of machines) await machine.end()
  machines = []
  await client.close()
  await service.close()
  await temporary.remove()
})

async function machine(name: string, options: Partial<FileSystemOptions> = {}): Promise<Machine> {
  const minutes = new Set<() => void>()
  let now = noon + 1
  let isKilled = false
  const changes: Change[] = []
  const inner = client.files(service.project)
  const gone = (): never => {
    throw new Error('killed')
  }
  const fileSystem = await createFileSystem({
    files: {
      ...inner,
      delete: (path, how) => (isKilled ? gone() : inner.delete(path, how)),
      upload: (path, upload, how) => (isKilled ? gone() : inner.upload(path, upload, how)),
    },
    stateDir: join(temporary.path, name, 'state'),
    cacheDir: join(temporary.path, name, 'cache'),
    hostName: name,
    shareLocks: true,
    onChange: (change) => changes.push(change),
    world: worldOf(() => now, minutes),
    ...options,
  })
  let isEnded = false
  const made: Machine = {
    fileSystem,
    calls: objectDoor({
      ...fileSystem,
      create: (parent, child, how, caller) =>
        fileSystem.create(parent, child, how, {
          ...caller,
          program: '7@7',
          isRunning: () => made.isProgramRunning,
        }),
    }),
    changes,
    get now() {
      return now
    },
    set now(ms) {
      now = ms
    },
    isProgramRunning: true,
    minute() {
      for (const run of Array.from(minutes)) run()
    },
    async end(how) {
      if (isEnded) return
      isEnded = true
      isKilled = how === 'kill'
      await fileSystem.close()
    },
  }
  machines.push(made)
  return made
}

/** Timers of a minute run when the test says so. */
function worldOf(now: () => number, minutes: Set<() => void>): World {
  const world = realWorld()
  const timers = world.clock
  const clock = createClock(now, timers.monotonic, {
    ...timers,
    setTimeout(run, ms) {
      if (ms !== 60_000) return timers.setTimeout(run, ms)
      const timer = timers.setTimeout(() => {}, ms).unref()
      const once = (): void => {
        minutes.delete(once)
        run()
      }
      minutes.add(once)
      return timer
    },
  })
  return { ...world, clock }
}

async function twoMachines(): Promise<[Machine, Machine]> {
  await service.other.put('/a.xlsx', 'cells')
  return [await machine('anna'), await machine('bert')]
}

/** Makes a lock as LibreOffice does: O_CREAT | O_EXCL, one line. */
async function take({ calls }: Machine, path: string, line: string | Uint8Array): Promise<void> {
  const file = await calls.open(path, 'wx')
  try {
    if (line.length > 0) await file.write(line, 0)
  } finally {
    await file.close()
  }
}

async function inService(): Promise<Record<string, string>> {
  const documents = (await service.other.documents('/')) ?? []
  return Object.fromEntries([...documents].map(([path, bytes]) => [path, bytes.toString()]))
}

const names = async (): Promise<string[]> => Object.keys(await inService()).sort()
const read = async ({ calls }: Machine, path = lock): Promise<string> =>
  (await calls.readFile(path)).toString()

it('is seen on the other machine at once, under its own name, and goes when its program removes it', async () => {
  const [anna, bert] = await twoMachines()
  await expect(read(bert)).rejects.toMatchObject({ code: 'ENOENT' })
  await take(anna, lock, 'Anna,anna,desk;')
  await expect(take(bert, lock, 'Bert')).rejects.toMatchObject({ code: 'EEXIST' })
  expect(await read(bert)).toBe('Anna,anna,desk;')
  expect((await bert.calls.readdir('/')).sort()).toEqual(['.~lock.a.xlsx#', 'a.xlsx'])
  await anna.calls.unlink(lock)
  await expect(read(bert)).rejects.toMatchObject({ code: 'ENOENT' })
  expect(await bert.calls.readdir('/')).toEqual(['a.xlsx'])
  expect(await names()).toEqual(['a.xlsx'])
  await take(bert, lock, 'Bert')
  expect(await read(anna)).toBe('Bert')
})

it('is a text with an end in its name to all others, and no change of a document', async () => {
  const [anna, bert] = await twoMachines()
  const plain = await machine('plain', { shareLocks: false })
  await take(anna, lock, 'Anna')
  expect(await inService()).toEqual({
    'a.xlsx': 'cells',
    '.~lock.a.xlsx#.until-2026-11-28T00Z.txt': expect.stringMatching(
      /^,anna,anna,27\.11\.2026 12:00,docmount:\w+;$/,
    ),
    '.~lock.a.xlsx#.until-2026-11-28T12Z.txt': 'Anna',
  })
  expect(await service.other.get(`${lock}.until-2026-11-28T12Z.txt`)).toMatchObject({
    mimetype: 'text/plain',
  })
  await plain.fileSystem.refresh('/')
  expect(await plain.calls.readdir('/')).toContain('.~lock.a.xlsx#.until-2026-11-28T12Z.txt')
  await read(bert)
  for (const { fileSystem, changes } of [anna, bert]) {
    expect(changes).toEqual([])
    expect(fileSystem.status()).toMatchObject({ unsent: [] })
  }
})

it('is exactly one machine’s, of two that make it at the same time', async () => {
  const [anna, bert] = await twoMachines()
  for (let turn = 0; turn < 12; turn++) {
    const at = `/.~lock.${turn}.ods#`
    const outcomes = await Promise.allSettled([take(anna, at, 'Anna'), take(bert, at, 'Bert')])
    const refusals = outcomes.flatMap((outcome) => (outcome.status === 'rejected' ? [outcome.reason] : []))
    expect(refusals).toMatchObject([{ code: 'EEXIST' }])
    const winner = outcomes[0]?.status === 'fulfilled' ? 'Anna' : 'Bert'
    expect([await read(anna, at), await read(bert, at)]).toEqual([winner, winner])
  }
})

it('is exactly one machine’s where their clocks are on two sides of noon', async () => {
  const [anna, bert] = await twoMachines()
  anna.now = noon - 1
  for (const [first, second] of [
    [anna, bert],
    [bert, anna],
  ] as const) {
    await take(first, lock, 'first')
    await expect(take(second, lock, 'second')).rejects.toMatchObject({ code: 'EEXIST' })
    // Between the two times, what the first has written may not be seen yet: only whose it is.
    expect(await read(second)).toMatch(/^first$|^,bert,bert,/)
    await first.calls.unlink(lock)
    expect(await names()).toEqual(['a.xlsx'])
  }
})

it.each([
  [
    'Office’s, which is binary',
    Buffer.from([4, 65, 110, 110, 97, 0, 255, 0, ...Array<number>(157).fill(0x20)]),
  ],
  ['an empty one', Buffer.alloc(0)],
  ['one that begins as the mark of binary content', Buffer.from('base64:QQ==')],
])('is read as it was written: %s', async (_what, bytes) => {
  const [anna, bert] = await twoMachines()
  await take(anna, '/~$a.xlsx', bytes)
  expect(await bert.calls.readFile('/~$a.xlsx')).toEqual(bytes)
  for (const text of Object.values(await inService())) expect(text).toMatch(/^[\x20-\x7E]*$/)
})

it('is renewed while its program runs, and removed when that has ended', async () => {
  const [anna, bert] = await twoMachines()
  await take(anna, lock, 'Anna')
  for (const later of [1, 2, 3]) {
    anna.now = bert.now = noon + 1 + later * halfDayMs
    anna.minute()
    const until = (halves: number): string =>
      `.~lock.a.xlsx#.until-${new Date(noon + halves * halfDayMs).toISOString().slice(0, 13)}Z.txt`
    const expected = [until(later + 1), until(later + 2), 'a.xlsx']
    await waitUntil(expected.join(), async () => (await names()).join() === expected.join())
    expect(await read(bert)).toBe('Anna')
  }
  anna.isProgramRunning = false
  anna.minute()
  await waitUntil('no lock', async () => (await names()).join() === 'a.xlsx')
  await expect(read(anna)).rejects.toMatchObject({ code: 'ENOENT' })
})

it('counts for nothing a day later, if nobody renewed it, and is removed two days later', async () => {
  const [anna, bert] = await twoMachines()
  await take(anna, lock, 'Anna')
  await anna.end('kill')
  bert.now = noon + 24 * 3_600_000 - 1
  await expect(take(bert, lock, 'Bert')).rejects.toMatchObject({ code: 'EEXIST' })
  bert.now++
  await take(bert, lock, 'Bert')
  expect(await read(bert)).toBe('Bert')
  await bert.end()
  const clara = await machine('clara')
  clara.now = noon + 5 * halfDayMs
  await clara.calls.readdir('/')
  await waitUntil('nothing but the document', async () => (await names()).join() === 'a.xlsx')
})

it('goes when its drive ends, and what a kill has left, when that drive starts again', async () => {
  const [anna] = await twoMachines()
  await take(anna, lock, 'Anna')
  await anna.end()
  expect(await names()).toEqual(['a.xlsx'])
  const again = await machine('anna')
  expect(await again.calls.readdir('/')).toEqual(['a.xlsx'])
  await take(again, lock, 'Anna')
  await again.end('kill')
  expect(await names()).toHaveLength(3)
  const third = await machine('anna')
  expect(await third.calls.readdir('/')).toEqual(['a.xlsx'])
  await waitUntil('no lock', async () => (await names()).join() === 'a.xlsx')
})

it('stays here while the service is away, and is shared when it is back', async () => {
  const [anna, bert] = await twoMachines()
  await anna.calls.readdir('/')
  await service.stop()
  await take(anna, lock, 'Anna')
  expect(await read(anna)).toBe('Anna')
  await service.start()
  await waitUntil('the lock', async () => (await names()).length === 3)
  expect(await read(bert)).toBe('Anna')
  await service.stop()
  await anna.calls.unlink(lock)
  await service.start()
  await waitUntil('no lock', async () => (await names()).join() === 'a.xlsx')
})

it('moves with its folder', async () => {
  const [anna, bert] = await twoMachines()
  await service.other.put('/in/b.xlsx', 'cells')
  await anna.fileSystem.refresh('/')
  await take(anna, '/in/.~lock.b.xlsx#', 'Anna')
  await anna.calls.rename('/in', '/out')
  await anna.fileSystem.wait('/', { timeoutMs: 60_000 })
  await waitUntil('the lock at its new place alone', async () =>
    /^a\.xlsx,out\/\.~lock[^,]*,out\/\.~lock[^,]*,out\/b\.xlsx$/.test((await names()).join()),
  )
  await bert.fileSystem.refresh('/')
  expect(await read(bert, '/out/.~lock.b.xlsx#')).toBe('Anna')
})

it('keeps its folder until it is removed, as any file does', async () => {
  const [anna, bert] = await twoMachines()
  await service.other.put('/in/b.xlsx', 'cells')
  for (const { fileSystem } of [anna, bert]) await fileSystem.refresh('/')
  await take(anna, '/in/.~lock.b.xlsx#', 'Anna')
  await bert.calls.unlink('/in/b.xlsx')
  await bert.fileSystem.wait('/', { timeoutMs: 60_000 })
  expect(await bert.calls.readdir('/in')).toEqual(['.~lock.b.xlsx#'])
  await expect(bert.calls.rmdir('/in')).rejects.toMatchObject({ code: 'ENOTEMPTY' })
  await bert.calls.unlink('/in/.~lock.b.xlsx#')
  await bert.calls.rmdir('/in')
  expect(await service.other.get('/in')).toBeUndefined()
  // The program on the other machine does not bring it back.
  anna.now += halfDayMs
  anna.minute()
  await anna.calls.readdir('/')
  await anna.calls.unlink('/in/.~lock.b.xlsx#').catch(() => {})
  expect(await names()).toEqual(['a.xlsx'])
})

it('waits for its folder to be in the service', async () => {
  const [anna, bert] = await twoMachines()
  await anna.calls.mkdir('/new')
  await take(anna, '/new/.~lock.c.csv#', 'Anna')
  expect(await service.other.get('/new')).toBeUndefined()
  await anna.calls.writeFile('/new/c.csv', 'a,b')
  await waitUntil('the lock', async () => (await names()).length === 4)
  await bert.fileSystem.refresh('/')
  expect(await read(bert, '/new/.~lock.c.csv#')).toBe('Anna')
})

it('is another person’s who writes it over', async () => {
  const [anna, bert] = await twoMachines()
  await take(anna, lock, 'Anna')
  await bert.calls.writeFile(lock, 'Bert')
  expect(await read(anna)).toBe('Bert')
  anna.minute()
  await anna.end()
  expect(await read(bert)).toBe('Bert')
  expect(Object.values(await inService()).sort()).toEqual(['Bert', 'Bert', 'cells'])
})

it('is shown to a read-only drive, which makes none', async () => {
  const [anna] = await twoMachines()
  const reader = await machine('reader', { readOnly: true })
  await take(anna, lock, 'Anna')
  expect(await read(reader)).toBe('Anna')
  await anna.calls.unlink(lock)
  await expect(take(reader, lock, 'Reader')).rejects.toMatchObject({ code: 'EROFS' })
  expect(await names()).toEqual(['a.xlsx'])
})

it('stays on this machine without the option', async () => {
  const plain = await machine('plain', { shareLocks: false })
  const bert = await machine('bert')
  await take(plain, lock, 'Plain')
  await take(bert, lock, 'Bert')
  expect(await read(plain)).toBe('Plain')
  await plain.calls.unlink(lock)
  expect(await names()).toHaveLength(2)
})
