// A program of its own that mounts the memory filesystem through a driver and does what the test says over IPC: a
// process that touched its own mount would wait for itself. Compiled by `build-programs.ts`, started by `memory-mount.ts`.

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

/** stderr belongs to the test: what the driver complains of is seen there. */
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
  void mounted.closed.then((reason) => tell({ kind: 'closed', reason, mountpoint }))
}

// oxlint-disable-next-line typescript/consistent-return -- the switch is exhaustive
async function fulfil(wish: Wish): Promise<unknown> {
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
    case 'notifyLetGo':
      return mounted.notifier.letGo(wish.nodes)
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

/** Bytes in use after a full collection. */
function heap(): number {
  setFlagsFromString('--expose-gc')
  const collect = runInNewContext('gc') as () => void
  collect()
  return process.memoryUsage().heapUsed
}

function tell(answer: Answer): void {
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
  fulfil(question).then(
    (value) => tell({ kind: 'answer', id, value }),
    (error: unknown) => tell({ kind: 'answer', id, error: failureOf(error) }),
  )
})

// The test is over, or gone: nothing may stay mounted.
process.on('disconnect', () => {
  void Promise.allSettled(served.map(({ mounted }) => mounted.unmount({ lazy: true }))).then(() =>
    process.exit(),
  )
})

try {
  await mount(options.mountpoint)
  tell({ kind: 'ready' })
} catch (error) {
  tell({ kind: 'refused', error: failureOf(error) })
}
