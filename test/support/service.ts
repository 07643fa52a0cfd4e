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
  const dataDir = join(temporary.path, 'service')
  const store = await storeOf(dataDir)
  let service = await startFaultyService({ ...options, ...store, projects: [project] })
  let isRunning = true
  const { baseUrl, port } = service
  const apiKey = await service.createKey(project)

  async function stop(): Promise<void> {
    if (!isRunning) return
    isRunning = false
    await service.close()
  }

  const other = otherClient(baseUrl, project, apiKey)
  return {
    project,
    baseUrl,
    apiKey,
    get service() {
      return service
    },
    other,
    stop,
    async start() {
      service = await startFaultyService({ ...options, ...store, port })
      // The new one starts to count anew.
      other.clearCalls()
      isRunning = true
    },
    async close() {
      await stop()
      await temporary.remove()
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
  const name = shared.free.pop() ?? ''
  shared.service.noteOnly(name)
  const apiKey = await shared.service.createKey(name)
  const { baseUrl, port } = shared.service
  const other = otherClient(baseUrl, name, apiKey)
  let { service } = shared
  let isRunning = true
  let wasStopped = false
  const dataDir = join(shared.temporary.path, 'service')

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
      service = await startFaultyService({ dataDir, port, projects: [] })
      other.clearCalls()
      isRunning = true
    },
    async close() {
      if (!wasStopped && shared.free.length > 0) {
        service.faults.clear()
        waiting.push(shared)
        return
      }
      await stop()
      await shared.temporary.remove()
    },
  }
}

async function startShared(): Promise<SharedService> {
  const temporary = await makeTemporaryFolder()
  const service = await startFaultyService({
    dataDir: join(temporary.path, 'service'),
    projects: sharedProjects,
    makesKeys: false,
  })
  return { service, temporary, free: [...sharedProjects] }
}
