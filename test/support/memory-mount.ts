// A mount of the memory filesystem for one test, served by a child process (`serve-memory.ts`).

import { fork, type ChildProcess } from 'node:child_process'
import { once } from 'node:events'
import { chown, mkdtemp, readFile, rmdir } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { programFile, type Packages } from './build-programs.ts'
import { run, type User } from './run.ts'
import type { Answer, Counts, Failure, ServeMemoryOptions, Wish } from './serve-memory-protocol.ts'
import { waitUntil } from './wait-until.ts'

export interface MemoryMountOptions extends Partial<ServeMemoryOptions> {
  /** Runs the program as this user; default: the test's user. */
  readonly user?: User
  readonly packages?: Packages
  /** An open /dev/fuse that is already mounted at `mountpoint`. */
  readonly fd?: number
  /** A module the program loads before anything else. */
  readonly preload?: string
  /** PATH of the program. */
  readonly path?: string
}

/** An error of the driver, with its `code` and message. */
export class Refused extends Error {
  readonly code: string

  constructor({ code, message }: Failure) {
    super(message)
    this.code = code
  }
}

export class MemoryMount {
  readonly path: string
  readonly process: ChildProcess
  /** Standard error of the program, which is empty unless something went wrong. */
  stderr = ''
  /** Resolves with the reason when a mount of the program has ended. */
  readonly closed: Promise<string>
  /** Resolves when the program has ended. */
  readonly ended: Promise<void>
  /** Rejects with the program's standard error when it has ended: for a race with a promise that would never settle then. */
  readonly gone: Promise<never>
  readonly #isFolderOurs: boolean
  readonly #answers = new Map<number, (answer: Extract<Answer, { kind: 'answer' }>) => void>()
  #lastId = 0

  constructor(path: string, process: ChildProcess, isFolderOurs: boolean) {
    this.path = path
    this.#isFolderOurs = isFolderOurs
    this.process = process
    process.stderr?.on('data', (chunk: Buffer) => (this.stderr += chunk.toString()))
    this.ended = once(process, 'exit').then(() => {})
    this.gone = this.ended.then(() => {
      throw new Error(`the program ended (${process.signalCode ?? process.exitCode}): ${this.stderr}`)
    })
    this.gone.catch(() => {}) // without this, a rejection that no call awaits would end the test
    this.closed = new Promise((resolve) => {
      process.on('message', (answer: Answer) => {
        if (answer.kind === 'closed') resolve(answer.reason)
        if (answer.kind === 'answer') this.#answers.get(answer.id)?.(answer)
      })
    })
  }

  get pid(): number {
    return this.process.pid ?? 0
  }

  /** Returns the path of a file on the mount. */
  at(name: string): string {
    return join(this.path, name)
  }

  /** Sends a request to the program; returns its answer. Throws Refused, or if the program ends or takes longer than 20 s. */
  async ask(wish: Wish): Promise<unknown> {
    const id = ++this.#lastId
    const answered = new Promise<Extract<Answer, { kind: 'answer' }>>((resolve) =>
      this.#answers.set(id, resolve),
    )
    this.process.send({ ...wish, id })
    const answer = await within(20_000, `an answer to ${wish.kind}`, Promise.race([answered, this.gone]))
    if (answer.error !== undefined) throw new Refused(answer.error)
    return answer.value
  }

  async counts(index = 0): Promise<Counts> {
    return (await this.ask({ kind: 'counts', index })) as Counts
  }

  /** Resolves when the program holds back `count` calls. */
  async holds(count: number): Promise<void> {
    await waitUntil(`${count} held calls`, async () => (await this.counts()).waiting === count)
  }

  isMounted(): Promise<boolean> {
    return isMounted(this.path)
  }

  /** Unmounts it once nothing is in it: programs of a desktop look into each new mount. Throws Refused for other reasons. */
  async unmount(): Promise<void> {
    await waitUntil('the programs to leave it', async () => {
      try {
        await this.ask({ kind: 'unmount', isLazy: false })
        return true
      } catch (error) {
        if (error instanceof Refused && error.code === 'EBUSY') return false
        throw error
      }
    })
  }

  /** Unmounts, ends the program, and removes the mountpoint if `mountMemory` made it. Works in every state. */
  async remove(): Promise<void> {
    if (this.process.exitCode === null && this.process.signalCode === null) {
      if (this.process.connected) this.process.disconnect()
      await within(10_000, 'the end of the program', this.ended).catch(() => this.process.kill('SIGKILL'))
    }
    // `-f`, because a program that waits for its own mount only continues when the FUSE connection is aborted.
    const flags = process.getuid?.() === 0 ? ['-f', '-l'] : ['-l']
    while (await this.isMounted()) await run('umount', [...flags, '--', this.path], { mayFail: true })
    if (this.#isFolderOurs) await rmdir(this.path)
  }
}

/** Mounts; resolves when the mount answers. Throws Refused with the driver's error. */
export async function mountMemory(options: MemoryMountOptions = {}): Promise<MemoryMount> {
  const { user, packages, fd, preload, path = process.env['PATH'], ...rest } = options
  const mountpoint = options.mountpoint ?? (await makeMountpoint(user))
  // Descriptor 4: 0 to 2 are the standard ones, and 3 is the IPC channel.
  const served: ServeMemoryOptions = { ...rest, mountpoint: fd === undefined ? mountpoint : '/dev/fd/4' }
  const child = fork(await programFile('serve-memory', packages), [JSON.stringify(served)], {
    cwd: '/',
    env: { ...process.env, PATH: path },
    execArgv: preload === undefined ? [] : ['--import', preload],
    stdio: ['ignore', 'ignore', 'pipe', 'ipc', ...(fd === undefined ? [] : [fd])],
    ...user,
  })
  const mount = new MemoryMount(mountpoint, child, options.mountpoint === undefined)
  const first = once(child, 'message') as Promise<[Answer]>
  const [answer] = await within(20_000, 'the mount', Promise.race([first, mount.gone]))
  if (answer.kind !== 'refused') return mount
  await mount.remove()
  throw new Refused(answer.error)
}

async function makeMountpoint(user: User | undefined): Promise<string> {
  const folder = await mkdtemp(join(tmpdir(), 'docmount-mount-'))
  if (user !== undefined) await chown(folder, user.uid, user.gid)
  return folder
}

/** True if `path` is a mountpoint. Reads only the mount table, since a dead mount would block a stat. */
export async function isMounted(path: string): Promise<boolean> {
  return (await readFile('/proc/self/mountinfo', 'utf8'))
    .split('\n')
    .some((line) => line.split(' ')[4] === path)
}

/** Settles as `promise` does; rejects if it takes longer than `limitMs`. `what` names it in the error. */
export async function within<T>(limitMs: number, what: string, promise: Promise<T>): Promise<T> {
  let timer: NodeJS.Timeout | undefined
  const late = new Promise<never>((_, reject) => {
    timer = setTimeout(() => reject(new Error(`${what} took longer than ${limitMs / 1000} s`)), limitMs)
  })
  try {
    return await Promise.race([promise, late])
  } finally {
    clearTimeout(timer)
  }
}
