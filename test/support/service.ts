// The reference service in this process, with a project and a key, in a folder of its own. It can be stopped and
// started again on the same port, like a service that goes down.

import { join } from 'node:path'

import { type FaultyService, startFaultyService } from './faults/faulty-service.ts'
import { otherClient, type OtherClient } from './other-client.ts'
import { storeOf } from './store.ts'
import { makeTemporaryFolder } from './temporary-folder.ts'

export const project = 'acme'

export interface TestService {
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
