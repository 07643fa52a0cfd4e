// A filesystem object whose calls to the service a test can hold back: uploads before they are sent or after they are answered,
// deletes, and downloads. It can be closed with unsent changes, and restarted on the same state folder.

import { cp, readdir, readFile, rm } from 'node:fs/promises'
import { join } from 'node:path'

import { createClient } from '../../src/api/client.ts'
import type { CallOptions, Files } from '../../src/api/types.ts'
import type { FileSystem, FileSystemOptions } from '../../src/fs/contract.ts'
import { createFileSystem } from '../../src/fs/file-system.ts'
import type { Calls } from './door.ts'
import { objectDoor } from './object-door.ts'
import { borrowTestService, type TestService } from './service.ts'
import { makeTemporaryFolder } from './temporary-folder.ts'

export interface HeldDrive extends AsyncDisposable {
  readonly testService: TestService
  readonly fileSystem: () => FileSystem
  readonly calls: () => Calls
  readonly stateDir: () => string
  /** Uploads to these paths are not sent until `release`. */
  hold(...paths: string[]): void
  /** Uploads to this path are sent, but do not return until `release`, even if their caller aborts them. */
  holdAnswer(path: string): void
  /** A delete of this path is not sent until `release`. */
  holdDelete(path: string): void
  /** A download of this path is not started until `release`. */
  holdDownload(path: string): void
  /** Lets the held calls of these paths continue; without arguments, those of all paths. */
  release(...paths: string[]): void
  /** Resolves when the first call of this path is being held. */
  reached(path: string): Promise<void>
  /** Closes the filesystem without sending anything, and starts it again; `prepare` may change its state folder before. */
  restart(prepare?: (stateDir: string) => Promise<void>): Promise<void>
  /** Restarts it as after a kill: the state folder is copied before the close, so what closing writes is lost. */
  restartKilled(): Promise<void>
  /** Copies the journal. Returns a `prepare` for `restart` that restores it: a power cut that lost everything written since. */
  keepJournal(): Promise<(stateDir: string) => Promise<void>>
  /** Returns the contents of its spool files. */
  spooled(): Promise<Buffer[]>
  /** Sends all changes; throws if some are still unsent after 20 s. */
  drain(): Promise<void>
}

/** The point at which calls of a path are held, and the gate that `release` opens. */
interface Hold {
  readonly stage: 'upload' | 'answer' | 'delete' | 'download'
  readonly gate: Gate
}

/** Starts a service with `documents` (content by path), and a filesystem on it. */
export async function openHeld(
  documents: Readonly<Record<string, string>> = {},
  {
    tellsTime = true,
    ...options
  }: Pick<
    FileSystemOptions,
    'closeWaitMs' | 'temporaryMs' | 'renameLimit' | 'undoMs' | 'undoFetchBytes' | 'world'
  > & {
    /** False: the service gives every document the same modified_at, so versions of equal size look the same. */
    readonly tellsTime?: boolean
  } = {},
): Promise<HeldDrive> {
  const temporary = await makeTemporaryFolder()
  const testService = await borrowTestService()
  for (const [path, content] of Object.entries(documents)) await testService.other.put(path, content)
  const client = createClient({ baseUrl: testService.baseUrl, apiKey: testService.apiKey })
  const held = new Map<string, Hold>()
  /** By path: gates that open when a call is being held. */
  const reachedGates = new Map<string, Gate>()
  const reachedGate = (path: string): Gate => {
    const known = reachedGates.get(path) ?? makeGate()
    reachedGates.set(path, known)
    return known
  }
  const service = client.files(testService.project)
  const withTimes = <T>(entry: T): T => (tellsTime ? entry : withConstantTime(entry))
  async function heldBack<T>(
    path: string,
    options: CallOptions | undefined,
    send: (options: CallOptions | undefined) => Promise<T>,
  ): Promise<T> {
    const heldAt = held.get(path)
    if (heldAt?.stage === 'upload') {
      reachedGate(path).open()
      await Promise.race([heldAt.gate.passed, aborted(options?.signal)])
    }
    const record = await send(heldAt?.stage === 'answer' ? {} : options)
    if (heldAt?.stage === 'answer') {
      reachedGate(path).open()
      await heldAt.gate.passed
    }
    return withTimes(record)
  }
  const files: Files = {
    ...service,
    project: service.project,
    get: async (...call) => withTimes(await service.get(...call)),
    async delete(path, options) {
      const heldAt = held.get(path)
      if (heldAt?.stage === 'delete') {
        reachedGate(path).open()
        await Promise.race([heldAt.gate.passed, aborted(options?.signal)])
      }
      await service.delete(path, options)
    },
    async download(url, path, ...rest) {
      const heldAt = held.get(path)
      if (heldAt?.stage === 'download') {
        reachedGate(path).open()
        await heldAt.gate.passed
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

  function hold(path: string, stage: Hold['stage']): void {
    held.set(path, { stage, gate: held.get(path)?.gate ?? makeGate() })
  }

  function release(...paths: string[]): void {
    for (const path of paths.length === 0 ? [...held.keys()] : paths) {
      held.get(path)?.gate.open()
      held.delete(path)
    }
  }

  /** Starts a filesystem on another state folder. */
  async function startOn(dir: string): Promise<void> {
    stateDir = dir
    fileSystem = await start()
    calls = objectDoor(fileSystem)
  }

  return {
    testService,
    fileSystem: () => fileSystem,
    calls: () => calls,
    stateDir: () => stateDir,
    hold(...paths) {
      for (const path of paths) hold(path, 'upload')
    },
    holdAnswer: (path) => hold(path, 'answer'),
    holdDelete: (path) => hold(path, 'delete'),
    holdDownload: (path) => hold(path, 'download'),
    release,
    reached: (path) => reachedGate(path).passed,
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
      // A copy, because libsql keeps the old database open, and locked, until its statements are garbage-collected.
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

/** Copies the folder as it is now. If libsql closes a database meanwhile, its log vanishes (ENOENT), and all is copied again. */
async function copyOf(stateDir: string, copy: string): Promise<void> {
  const filter = (path: string): boolean => !/lock\.db|\.db-shm/.test(path)
  await cp(stateDir, copy, { recursive: true, filter }).catch(async (error: unknown) => {
    if ((error as NodeJS.ErrnoException).code !== 'ENOENT') throw error
    await rm(copy, { recursive: true, force: true })
    await cp(stateDir, copy, { recursive: true, filter })
  })
}

/** True for the journal's database and its log. The -shm file is left out: SQLite creates it again. */
function isJournal(path: string): boolean {
  return /journal\.db(-wal)?$/.test(path)
}

/** Gives every record the same modifiedAt, as a service whose clock stands still. */
function withConstantTime<T>(entry: T): T {
  if (typeof entry !== 'object' || entry === null) return entry
  const timed = 'modifiedAt' in entry ? { ...entry, modifiedAt: '2026-01-01T00:00:00.000Z' } : { ...entry }
  return 'entries' in timed && Array.isArray(timed.entries)
    ? { ...timed, entries: timed.entries.map((each: unknown) => withConstantTime(each)) }
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

function makeGate(): Gate {
  let open = (): void => {}
  const passed = new Promise<void>((resolve) => {
    open = resolve
  })
  return { passed, open }
}
