// Program that mounts the memory filesystem through a driver, controlled by a test over IPC. A separate process, because one that
// uses its own mount waits for itself. Compiled by `build-programs.ts`, started by `memory-mount.ts`.

import { setFlagsFromString } from 'node:v8'
import { runInNewContext } from 'node:vm'
import { MountError, type Driver, type Mounted } from '../../src/fuse/driver.ts'
import { silentLog, type Log } from '../../src/log.ts'
import { HeldOperations } from './held-operations.ts'
import { MemoryFileSystem } from './memory-file-system.ts'
import type {
  Answer,
  Counts,
  Failure,
  Put,
  Question,
  ServeMemoryOptions,
  Wish,
} from './serve-memory-protocol.ts'

interface Served {
  readonly fileSystem: MemoryFileSystem
  readonly held: HeldOperations
  readonly mounted: Mounted
}

const options = JSON.parse(process.argv[2] ?? '{}') as ServeMemoryOptions
const served: Served[] = []

/** Warnings and errors of the driver go to stderr, which the test checks. */
const log: Log = {
  ...silentLog,
  warn: (fields, message) => console.error(message, fields),
  error: (fields, message) => console.error(message, fields),
}

async function loadDriver(): Promise<Driver> {
  if (options.driver === 'fuse-native') {
    return (await import('../../src/fuse/native/driver.ts')).fuseNativeDriver
  }
  return (await import('../../src/fuse/kernel/driver.ts')).kernelDriver
}

async function mount(mountpoint: string): Promise<void> {
  const driver = await loadDriver()
  const fileSystem = new MemoryFileSystem(options.fileSystem)
  const held = new HeldOperations(fileSystem)
  const mounted = await driver.mount(options.isPlain === true ? fileSystem : held.operations, {
    mountpoint,
    source: options.source ?? 'docmount:test',
    readOnly: options.readOnly ?? false,
    allowOther: options.allowOther ?? false,
    log,
  })
  served.push({ fileSystem, held, mounted })
  void mounted.closed.then((reason) => sendToTest({ kind: 'closed', reason, mountpoint }))
}

// oxlint-disable-next-line typescript/consistent-return -- the switch is exhaustive
async function carryOut(wish: Wish): Promise<unknown> {
  if (wish.kind === 'mount') return mount(wish.mountpoint)
  if (wish.kind === 'exit') process.exit(0)
  if (wish.kind === 'bug') {
    setImmediate(() => {
      throw new Error('nobody expected this')
    })
    return undefined
  }
  const { fileSystem, held, mounted } = served[wish.index ?? 0] ?? notMounted()
  switch (wish.kind) {
    case 'unmount':
      return mounted.unmount({ lazy: wish.isLazy })
    case 'counts':
      return countsOf(fileSystem, held)
    case 'put':
      return put(wish, fileSystem, mounted)
    case 'hold':
      return held.hold(wish.operation, wish.ignoresSignal ?? false)
    case 'letGo':
      return held.letGo(wish.operation)
    case 'notifyUnused':
      return mounted.notifier.dropUnused(wish.nodes)
    case 'notifyName':
      return mounted.notifier.entryChanged(wish.parent, wish.name)
  }
}

function put(wish: Put, fileSystem: MemoryFileSystem, { notifier }: Mounted): number {
  const node = fileSystem.put(wish.path, Buffer.from(wish.text))
  if (wish.notify === 'entry') notifier.entryChanged(1, wish.path.slice(1))
  if (wish.notify === 'content') notifier.contentChanged(node.ino)
  if (wish.notify === 'attributes') notifier.attributesChanged(node.ino)
  return node.ino
}

function countsOf(fileSystem: MemoryFileSystem, held: HeldOperations): Counts {
  const { rememberedNodes, openHandles } = fileSystem
  return { rememberedNodes, openHandles, calls: held.takeCalls(), waiting: held.waiting, heapBytes: heap() }
}

/** Returns the heap in use after a full garbage collection, in bytes. */
function heap(): number {
  setFlagsFromString('--expose-gc')
  const collect = runInNewContext('gc') as () => void
  collect()
  return process.memoryUsage().heapUsed
}

function sendToTest(answer: Answer): void {
  if (process.connected) process.send?.(answer)
}

function failureOf(error: unknown): Failure {
  if (error instanceof MountError) return { code: error.code, message: error.message }
  return { code: 'bug', message: error instanceof Error ? (error.stack ?? error.message) : String(error) }
}

function notMounted(): never {
  throw new Error('no such mount')
}

process.on('message', (question: Question) => {
  const { id } = question
  carryOut(question).then(
    (value) => sendToTest({ kind: 'answer', id, value }),
    (error: unknown) => sendToTest({ kind: 'answer', id, error: failureOf(error) }),
  )
})

// The test's process has ended: unmount everything.
process.on('disconnect', () => {
  void Promise.allSettled(served.map(({ mounted }) => mounted.unmount({ lazy: true }))).then(() =>
    process.exit(),
  )
})

try {
  await mount(options.mountpoint)
  sendToTest({ kind: 'ready' })
} catch (error) {
  sendToTest({ kind: 'refused', error: failureOf(error) })
}
