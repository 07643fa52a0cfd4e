// Other clients' changes happen in front of programs that watch a folder: what the real inotifywait says of them.

import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from 'vitest'
import { whyNoFuse } from '../support/fuse.ts'
import { mountDrive, type MountedDrive, type MountedDriveOptions } from '../support/mounted.ts'
import { isRoot, makeOrdinaryUser, whyNoUserMount } from '../support/ordinary-user.ts'
import { bash, isInstalled, run, type User } from '../support/run.ts'
import { startTestService, type TestService } from '../support/service.ts'
import { makeTemporaryFolder, type TemporaryFolder } from '../support/temporary-folder.ts'
import { waitUntil } from '../support/wait-until.ts'

const whyNot = isInstalled('inotifywait') ? whyNoFuse() : 'inotifywait is not installed'

describe.skipIf(whyNot !== undefined)('a folder that inotifywait watches', () => {
  let testService: TestService
  const endings: (() => Promise<unknown>)[] = []
  let drive: MountedDrive
  let watch: Watch
  let folder = ''
  let count = 0
  let beacons = 0

  beforeAll(async () => {
    testService = await startTestService()
    drive = await mount()
  })
  beforeEach(async () => {
    folder = `/live-${++count}`
    await testService.other.put(`${folder}/old.txt`, 'old')
    await testService.other.put(`${folder}/sub/old.txt`, 'old')
    watch = await watchIn(drive, folder)
  })
  afterEach(() => watch.end())
  afterAll(async () => {
    for (const end of endings.toReversed()) await end()
    await testService?.close()
  })

  async function mount(options: Partial<MountedDriveOptions> = {}): Promise<MountedDrive> {
    const temporary: TemporaryFolder = await makeTemporaryFolder(options.user)
    endings.push(() => temporary.remove())
    const { args = [] } = options
    const mounted = await mountDrive({
      testService,
      driver: 'kernel',
      folder: temporary.path,
      ...options,
      args: ['--cache-ttl', '1s', ...args],
    })
    endings.push(() => mounted.end())
    return mounted
  }

  /** Watches a path of the drive once the drive knows of it. */
  async function watchIn(at: MountedDrive, path: string, user?: User): Promise<Watch> {
    const place = join(at.mountpoint, path)
    await waitUntil(`${path} to show`, async () => {
      return (await run('timeout', ['20', 'ls', place], { user, mayFail: true })).code === 0
    })
    const started = await startWatch(place, user)
    await heard(started, path)
    return started
  }

  /** Resolves when another client's document is told of, and with it all before it. */
  async function heard(listener: Watch = watch, path: string = folder): Promise<void> {
    // The last of those that are told of together, which come in the order of their names.
    const name = `zz-beacon-${++beacons}.txt`
    // A watch is noticed within a lifetime: until then, what comes is only listed.
    await waitUntil(`${name} among ${listener.events().join('\n')}`, async () => {
      await testService.other.put(`${path}/${name}`, `${performance.now()}`)
      for (let turn = 0; turn < 100 && !listener.events().includes(`CLOSE_WRITE ${name}`); turn++)
        await sleep(20)
      return listener.events().includes(`CLOSE_WRITE ${name}`)
    })
  }

  /** Another client replaces a document. No listing falls between its DELETE and its PUT. */
  async function replace(name: string, content: string): Promise<void> {
    const show = testService.service.faults.inject(
      { kind: 'stale-listing', asOf: Date.now() },
      { path: folder },
    )
    await testService.other.put(`${folder}/${name}`, content)
    show()
  }

  /** Events of all but beacons. */
  const events = (listener: Watch = watch): string[] =>
    listener.events().filter((event) => !event.includes('beacon') && !event.endsWith(' '))

  const ran = (line: string): Promise<unknown> => bash(`cd "$1"; ${line}`, [join(drive.mountpoint, folder)])

  const created = (name: string): string[] =>
    ['CREATE', 'OPEN', 'MODIFY', 'CLOSE_WRITE'].map((event) => `${event} ${name}`)
  const changed = (name: string): string[] => created(name).slice(1)

  const odd = '-rf $(touch x) "ü".txt'

  test('tells of a new document, a changed one, a renamed one, one that is gone; and of folders', async () => {
    await testService.other.put(`${folder}/new.txt`, 'new')
    await heard()
    await replace('old.txt', 'another')
    await heard()
    await testService.other.delete(`${folder}/old.txt`)
    await testService.other.put(`${folder}/${odd}`, 'another')
    await heard()
    await testService.other.put(`${folder}/made/a.txt`, 'a')
    await testService.other.delete(`${folder}/sub`)
    await heard()
    expect(events()).toEqual([
      ...created('new.txt'),
      ...changed('old.txt'),
      'DELETE old.txt',
      ...created(odd),
      'DELETE,ISDIR sub',
      'CREATE,ISDIR made',
    ])
    expect(await testService.other.documents(folder)).toSatisfy((documents: Map<string, Buffer>) =>
      ['new.txt', odd, 'made/a.txt'].every((name) => documents.has(name)),
    )
  })

  test('tells also what a program listed before, so that the kernel knows it already', async () => {
    const listing = spawn(
      'bash',
      [
        '-c',
        'while [ -d "$1" ]; do ls -l "$1" >/dev/null; sleep 0.02; done',
        'bash',
        join(drive.mountpoint, folder),
      ],
      { cwd: '/' },
    )
    try {
      await testService.other.put(`${folder}/new.txt`, 'new')
      await replace('old.txt', 'another')
      await testService.other.put(`${folder}/made/a.txt`, 'a')
      await testService.other.delete(`${folder}/sub`)
      await heard()
      await heard()
    } finally {
      listing.kill()
      await once(listing, 'exit')
    }
    // A document that `ls` looks up twice in the midst of its replay is told of as one that was there.
    const told = events().filter((event) => event !== 'CREATE new.txt')
    expect(told.toSorted()).toEqual(
      [...changed('new.txt'), ...changed('old.txt'), 'CREATE,ISDIR made', 'DELETE,ISDIR sub'].toSorted(),
    )
  })

  test('tells nothing more of what programs here do, and does nothing itself', async () => {
    await ran('echo ours > ours.txt; echo more > old.txt; mkdir made; mv ours.txt moved.txt; rm -r sub')
    await drive.docmount(['wait', drive.mountpoint])
    const before = events()
    expect(before).toContain('CREATE ours.txt')
    testService.service.clearCalls()
    testService.other.clearCalls()
    // Longer than a change made here outranks the listings.
    for (let round = 0; round < 4; round++) await heard()
    expect(events()).toEqual(before)
    const own = new Set(testService.other.calls.map(({ path }) => path))
    const byDrive = testService.service.calls.filter(({ path }) => !own.has(path))
    expect(byDrive.map(({ method, path }) => `${method} ${path}`)).toContain(`GET ${folder}`)
    expect(new Set(byDrive.map(({ method }) => method))).toEqual(new Set(['GET']))
    const { unsent, openHandles, calls } = await drive.status()
    expect({ unsent, openHandles, downloads: calls.downloads }).toEqual({
      unsent: [],
      openHandles: 0,
      downloads: 0,
    })
    expect((await drive.docmount(['activity', drive.mountpoint, '--json'])).stdout).not.toContain('beacon')
  })

  test('counts as shown to nobody: who saves over a version that was told of alone keeps it beside the save', async () => {
    await ran('ls -l >/dev/null')
    await replace('old.txt', 'theirs')
    await heard()
    // A version that was told longer ago than this would count as shown.
    await sleep(2_500)
    await ran('echo ours > old.txt')
    await drive.docmount(['wait', join(drive.mountpoint, folder)])
    const documents = [...((await testService.other.documents(folder)) ?? [])]
    const copies = documents.filter(([name]) => name.includes('(conflict'))
    expect(copies.map(([, bytes]) => bytes.toString())).toEqual(['theirs'])
  })

  test('is listed once a lifetime, and one that nobody watches is not', async () => {
    await run('timeout', ['200', 'ls', join(drive.mountpoint, folder, 'sub')])
    testService.service.clearCalls()
    const from = performance.now()
    for (let round = 0; round < 3; round++) await heard()
    const rounds = (performance.now() - from) / 1_000
    const listed = (path: string): number =>
      testService.service.calls.filter((call) => call.method === 'GET' && call.path === path).length
    expect(listed(folder)).toBeLessThanOrEqual(rounds + 2)
    expect(listed(`${folder}/sub`)).toBe(0)
  })

  test('in which more than a thousand names change at once tells that it has changed, and nothing else', async () => {
    const { other, service } = testService
    const show = service.faults.inject({ kind: 'stale-listing', asOf: Date.now() }, { path: folder })
    await Promise.all(
      Array.from({ length: 20 }, async (_, turn) => {
        for (let i = 0; i < 60; i++) await other.put(`${folder}/f-${turn}-${i}.txt`, 'x')
      }),
    )
    show()
    await waitUntil('the folder’s own event', () => watch.events().includes('ATTRIB,ISDIR '))
    await heard()
    expect(events()).toEqual([])
  })

  test('tells those who watch one document of it, also that it is gone', async () => {
    const document = await startWatch(join(drive.mountpoint, folder, 'old.txt'))
    try {
      await replace('old.txt', 'another')
      await waitUntil('the change', () => document.events().includes('CLOSE_WRITE '))
      await testService.other.delete(`${folder}/old.txt`)
      await waitUntil('the end', () => document.events().includes('DELETE_SELF '))
      expect(document.events()).toEqual(['OPEN ', 'MODIFY ', 'CLOSE_WRITE ', 'ATTRIB ', 'DELETE_SELF '])
    } finally {
      await document.end()
    }
  })

  test.skipIf(!isRoot)('at whose place something else is mounted meanwhile leaves that alone', async () => {
    const place = join(drive.mountpoint, folder)
    await run('timeout', ['200', 'mount', '-t', 'tmpfs', 'docmount-test', place])
    try {
      await bash('echo mine > "$1/old.txt"', [place])
      await testService.other.delete(`${folder}/old.txt`)
      await waitUntil('the child to have looked', () => drive.log().includes('does not lead into the drive'))
      expect((await run('cat', [join(place, 'old.txt')])).stdout).toBe('mine\n')
    } finally {
      await run('umount', ['-l', place])
    }
    await heard()
    expect(events()).toEqual([])
  })

  test.skipIf(whyNoUserMount() !== undefined)('of an ordinary user', async () => {
    const user = await makeOrdinaryUser()
    const theirs = await mount({ user })
    const listener = await watchIn(theirs, folder, user)
    try {
      await testService.other.put(`${folder}/new.txt`, 'new')
      await testService.other.delete(`${folder}/old.txt`)
      await heard(listener)
      expect(events(listener)).toEqual(['DELETE old.txt', ...created('new.txt')])
    } finally {
      await listener.end()
      await theirs.end()
      await user.remove()
    }
  })

  test('tells nothing with --no-live-folders', async () => {
    const quiet = await mount({ args: ['--no-live-folders'] })
    const place = join(quiet.mountpoint, folder)
    await run('timeout', ['200', 'ls', place])
    const listener = await startWatch(place)
    try {
      await heard()
      await heard()
      expect(listener.events().filter((event) => event.includes('beacon'))).toEqual([])
    } finally {
      await listener.end()
    }
  })

  test('does not keep the drive from being unmounted, while the service holds the child up', async () => {
    const theirs = await mount()
    const listener = await watchIn(theirs, `${folder}/sub`)
    const letGo = testService.service.faults.inject(
      { kind: 'latency', ms: 60_000 },
      { method: 'GET', path: folder },
    )
    try {
      let last: number | undefined
      const child = await waitUntil('a child that waits', async () => {
        await testService.other.put(`${folder}/sub/new.txt`, `${performance.now()}`)
        await sleep(300)
        const [before, now] = [last, await childOf(theirs.pid)]
        last = now
        return now === before && now
      })
      await listener.end()
      // Sooner than the child's own limit.
      await theirs.docmount(['unmount', theirs.mountpoint, '--timeout', '5s'])
      expect(await isReplay(child)).toBe(false)
    } finally {
      letGo()
      await listener.end()
    }
  })
})

/** The child that replays changes for a drive. */
async function childOf(pid: number): Promise<number | undefined> {
  const children = await readFile(`/proc/${pid}/task/${pid}/children`, 'utf8')
  for (const child of children.split(' ').filter(Boolean)) {
    if (await isReplay(Number(child))) return Number(child)
  }
  return undefined
}

async function isReplay(pid: number): Promise<boolean> {
  return (await readFile(`/proc/${pid}/cmdline`, 'utf8').catch(() => '')).includes('docmount-replay')
}

interface Watch {
  /** So far: `CREATE a.txt`. */
  events(): string[]
  end(): Promise<void>
}

async function startWatch(path: string, user?: User): Promise<Watch> {
  const child = spawn('inotifywait', ['-m', '--format', '%e %f', path], {
    cwd: '/',
    stdio: ['ignore', 'pipe', 'pipe'],
    ...user,
  })
  let said = ''
  let begun = ''
  child.stdout.on('data', (chunk: Buffer) => (said += chunk.toString()))
  child.stderr.on('data', (chunk: Buffer) => (begun += chunk.toString()))
  await waitUntil(`inotifywait: ${begun}`, () => begun.includes('established'))
  return {
    events: () => said.replaceAll('CLOSE_WRITE,CLOSE', 'CLOSE_WRITE').split('\n').slice(0, -1),
    async end() {
      if (child.exitCode !== null || child.signalCode !== null) return
      const ended = once(child, 'exit')
      child.kill()
      await ended
    },
  }
}
