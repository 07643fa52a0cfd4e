// The filesystem object with a hand on its uploads: they can be stopped before the service hears of them, or have their
// answers kept back. It can be ended without sending anything, and started again on the same state.

import { cp, readdir, readFile, rm } from 'node:fs/promises'
import { join } from 'node:path'

import { createClient } from '../../src/api/client.ts'
import type { CallOptions, Files } from '../../src/api/types.ts'
import type { FileSystem, FileSystemOptions } from '../../src/fs/contract.ts'
import { createFileSystem } from '../../src/fs/file-system.ts'
import type { Calls } from './door.ts'
import { objectDoor } from './object-door.ts'
import { project, startTestService, type TestService } from './service.ts'
import { makeTemporaryFolder } from './temporary-folder.ts'

export interface HeldDrive extends AsyncDisposable {
  readonly testService: TestService
  readonly fileSystem: () => FileSystem
  readonly calls: () => Calls
  /** Uploads to these paths are not begun until `release`. */
  hold(...paths: string[]): void
  /** Answers to uploads to this path are kept back until `release`, also from who does not want them any more. */
  holdAnswer(path: string): void
  /** A delete at this path is not begun until `release`. */
  holdDelete(path: string): void
  /** No byte is downloaded from this path until `release`. */
  holdDownload(path: string): void
  /** Of these paths; of all where none is given. */
  release(...paths: string[]): void
  /** Resolves when an upload, a delete or a download that is held has come to that point. */
  reached(path: string): Promise<void>
  /** Ends it as it is, and starts it again, perhaps with what `prepare` does to its state folder. */
  restart(prepare?: (stateDir: string) => Promise<void>): Promise<void>
  /** The same of one that is killed: nothing is written at its end. */
  restartKilled(): Promise<void>
  /** Keeps the journal as it is now. Answers what puts it back for `restart`: a power cut took what came after it. */
  keepJournal(): Promise<(stateDir: string) => Promise<void>>
  /** The contents in its spool. */
  spooled(): Promise<Buffer[]>
  /** Sends everything; throws where something is left. */
  drain(): Promise<void>
}

interface Held {
  readonly how: 'upload' | 'answer' | 'delete' | 'download'
  readonly opened: Gate
}

export async function openHeld(
  given: Readonly<Record<string, string>> = {},
  {
    tellsTime = true,
    ...options
  }: Pick<FileSystemOptions, 'closeWaitMs' | 'leftAloneMs' | 'renameLimit' | 'world'> & {
    /** False: of any document the service says that it was changed in the same moment. */
    readonly tellsTime?: boolean
  } = {},
): Promise<HeldDrive> {
  const temporary = await makeTemporaryFolder()
  const testService = await startTestService()
  for (const [path, content] of Object.entries(given)) await testService.other.put(path, content)
  const client = createClient({ baseUrl: testService.baseUrl, apiKey: testService.apiKey })
  const held = new Map<string, Held>()
  const points = new Map<string, Gate>()
  const point = (path: string): Gate => {
    const known = points.get(path) ?? gate()
    points.set(path, known)
    return known
  }
  const service = client.files(project)
  const told = <T>(entry: T): T => (tellsTime ? entry : untimed(entry))
  async function heldBack<T>(
    path: string,
    options: CallOptions | undefined,
    send: (options: CallOptions | undefined) => Promise<T>,
  ): Promise<T> {
    const hand = held.get(path)
    if (hand?.how === 'upload') {
      point(path).open()
      await Promise.race([hand.opened.passed, aborted(options?.signal)])
    }
    const record = await send(hand?.how === 'answer' ? {} : options)
    if (hand?.how === 'answer') {
      point(path).open()
      await hand.opened.passed
    }
    return told(record)
  }
  const files: Files = {
    ...service,
    project: service.project,
    get: async (...call) => told(await service.get(...call)),
    async delete(path, options) {
      const hand = held.get(path)
      if (hand?.how === 'delete') {
        point(path).open()
        await Promise.race([hand.opened.passed, aborted(options?.signal)])
      }
      await service.delete(path, options)
    },
    async download(url, path, ...rest) {
      const hand = held.get(path)
      if (hand?.how === 'download') {
        point(path).open()
        await hand.opened.passed
      }
      return service.download(url, path, ...rest)
    },
    upload: (path, upload, options) => heldBack(path, options, (how) => service.upload(path, upload, how)),
    replace: (path, upload, options) => heldBack(path, options, (how) => service.replace(path, upload, how)),
  }
  let stateDir = join(temporary.path, 'state')
  let journals = 0
  const start = (): Promise<FileSystem> =>
    createFileSystem({ files, stateDir, cacheDir: join(temporary.path, 'cache'), closeWaitMs: 0, ...options })
  let fileSystem = await start()
  let calls = objectDoor(fileSystem)

  function hold(path: string, how: Held['how']): void {
    held.set(path, { how, opened: held.get(path)?.opened ?? gate() })
  }

  function release(...paths: string[]): void {
    for (const path of paths.length === 0 ? [...held.keys()] : paths) {
      held.get(path)?.opened.open()
      held.delete(path)
    }
  }

  /** Starts on another state folder. */
  async function startOn(dir: string): Promise<void> {
    stateDir = dir
    fileSystem = await start()
    calls = objectDoor(fileSystem)
  }

  return {
    testService,
    fileSystem: () => fileSystem,
    calls: () => calls,
    hold(...paths) {
      for (const path of paths) hold(path, 'upload')
    },
    holdAnswer: (path) => hold(path, 'answer'),
    holdDelete: (path) => hold(path, 'delete'),
    holdDownload: (path) => hold(path, 'download'),
    release,
    reached: (path) => point(path).passed,
    async keepJournal() {
      const kept = join(temporary.path, `journal ${++journals}`)
      await cp(stateDir, kept, { recursive: true, filter: (path) => path === stateDir || isJournal(path) })
      return async (dir) => {
        await rm(join(dir, 'journal.db-wal'), { force: true })
        await cp(kept, dir, { recursive: true })
      }
    },
    async restart(prepare) {
      await fileSystem.close()
      // libsql keeps a database open until its statements are collected: it goes on with a copy, as after a crash.
      const copy = `${stateDir}+`
      await copyOf(stateDir, copy)
      await prepare?.(copy)
      await startOn(copy)
    },
    async restartKilled() {
      const copy = `${stateDir}+`
      await copyOf(stateDir, copy)
      await fileSystem.close()
      await startOn(copy)
    },
    async spooled() {
      const spool = join(stateDir, 'spool')
      const names = (await readdir(spool)).filter((name) => !name.endsWith('.json'))
      return Promise.all(names.map((name) => readFile(join(spool, name))))
    },
    async drain() {
      const left = await fileSystem.drain({ timeoutMs: 20_000 })
      if (left.length > 0) throw new Error(`not sent: ${JSON.stringify(left)}`)
    },
    async [Symbol.asyncDispose]() {
      release()
      await fileSystem.close()
      await client.close()
      await testService.close()
      await temporary.remove()
    },
  }
}

/** As it is. A database that libsql closes meanwhile loses its log, whose content it has then: copied again. */
async function copyOf(stateDir: string, copy: string): Promise<void> {
  const filter = (path: string): boolean => !/lock\.db|\.db-shm/.test(path)
  await cp(stateDir, copy, { recursive: true, filter }).catch(async (error: unknown) => {
    if ((error as NodeJS.ErrnoException).code !== 'ENOENT') throw error
    await rm(copy, { recursive: true, force: true })
    await cp(stateDir, copy, { recursive: true, filter })
  })
}

/** The shared memory beside it is made anew. */
function isJournal(path: string): boolean {
  return /journal\.db(-wal)?$/.test(path)
}

/** A clock that stands still: who stores twice what is as long cannot be told by its time. */
function untimed<T>(entry: T): T {
  if (typeof entry !== 'object' || entry === null) return entry
  const timed = 'modifiedAt' in entry ? { ...entry, modifiedAt: '2026-01-01T00:00:00.000Z' } : { ...entry }
  return 'entries' in timed && Array.isArray(timed.entries)
    ? { ...timed, entries: timed.entries.map((each: unknown) => untimed(each)) }
    : timed
}

function aborted(signal: AbortSignal | undefined): Promise<never> {
  return new Promise((_resolve, reject) => {
    signal?.addEventListener('abort', () => reject(signal.reason as Error), { once: true })
  })
}

interface Gate {
  readonly passed: Promise<void>
  readonly open: () => void
}

function gate(): Gate {
  let open = (): void => {}
  const passed = new Promise<void>((resolve) => {
    open = resolve
  })
  return { passed, open }
}
