// The reference service in this process, with a project and a key, in a folder of its own. It can be stopped and
// started again on the same port, like a service that goes down.

import { join } from 'node:path'

import { type FaultyService, startFaultyService } from './faults/faulty-service.ts'
import { otherClient, type OtherClient } from './other-client.ts'
import { isOnPostgres, storeOf } from './store.ts'
import { makeTemporaryFolder, type TemporaryFolder } from './temporary-folder.ts'

export const project = 'acme'

export interface TestService {
  readonly project: string
  readonly baseUrl: string
  readonly apiKey: string
  /** The service as it runs now: faults and calls. */
  readonly service: FaultyService
  readonly other: OtherClient
  /** Closes the port; the data stay. */
  stop(): Promise<void>
  /** Listens again on the same port, with the same data. */
  start(): Promise<void>
  close(): Promise<void>
}

export interface TestServiceOptions {
  readonly trustProxy?: readonly string[]
  readonly urlLifetimeMs?: number
}

/** Starts the service with an empty project. */
export async function startTestService(options: TestServiceOptions = {}): Promise<TestService> {
  const temporary = await makeTemporaryFolder()
  const store = await storeOf(dataDirOf(temporary))
  const started = await startFaultyService({ ...options, ...store, projects: [project] })
  return testServiceOf(project, started, {
    restart: (port) => startFaultyService({ ...options, ...store, port }),
    remove: () => temporary.remove(),
  })
}

interface Running {
  readonly restart: (port: number) => Promise<FaultyService>
  /** Removes its data, once it is stopped. */
  readonly remove: () => Promise<void>
  /** Called at the close of a service that was never stopped. True: it goes on, and its data stay. */
  readonly keep?: () => boolean
}

async function testServiceOf(
  name: string,
  started: FaultyService,
  { restart, remove, keep = () => false }: Running,
): Promise<TestService> {
  let service = started
  let isRunning = true
  let wasStopped = false
  const { baseUrl, port } = service
  const apiKey = await service.createKey(name)
  const other = otherClient(baseUrl, name, apiKey)

  async function stop(): Promise<void> {
    if (!isRunning) return
    isRunning = false
    wasStopped = true
    await service.close()
  }

  return {
    project: name,
    baseUrl,
    apiKey,
    get service() {
      return service
    },
    other,
    stop,
    async start() {
      service = await restart(port)
      // The new one starts to count anew.
      other.clearCalls()
      isRunning = true
    },
    async close() {
      if (!wasStopped && keep()) return
      await stop()
      await remove()
    },
  }
}

/** Projects of one shared service: each test has one of its own. */
const sharedProjects = Array.from({ length: 40 }, (_, index) => `${project}-${index + 1}`)

interface SharedService {
  readonly service: FaultyService
  readonly temporary: TemporaryFolder
  /** Projects that no test has had. */
  readonly free: string[]
}

/** Services that wait for the next test of this process. To start one takes four fifths of the processor time of a short test. */
const waiting: SharedService[] = []

/**
 * Returns a service that earlier tests of this process have used, each with a project and a key of its own; what is left of them is
 * neither noted nor hit by faults. A service that is stopped is not used again.
 */
export async function borrowTestService(): Promise<TestService> {
  if (isOnPostgres) return startTestService()
  const shared = waiting.pop() ?? (await startShared())
  const { service, temporary, free } = shared
  const name = free.pop() ?? ''
  service.noteOnly(name)
  return testServiceOf(name, service, {
    restart: (port) => startFaultyService({ dataDir: dataDirOf(temporary), port, projects: [] }),
    remove: () => temporary.remove(),
    keep: () => {
      if (free.length === 0) return false
      service.faults.clear()
      waiting.push(shared)
      return true
    },
  })
}

async function startShared(): Promise<SharedService> {
  const temporary = await makeTemporaryFolder()
  const service = await startFaultyService({
    dataDir: dataDirOf(temporary),
    projects: sharedProjects,
    makesKeys: false,
  })
  return { service, temporary, free: [...sharedProjects] }
}

function dataDirOf({ path }: TemporaryFolder): string {
  return join(path, 'service')
}
