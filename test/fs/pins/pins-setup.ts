// A filesystem object with something to pin, which can be ended as by a kill, and opened again, with and without the service.

import { cpSync } from 'node:fs'
import { join } from 'node:path'
import { afterEach, beforeEach } from 'vitest'
import { createClient, type Client } from '../../../src/api/client.ts'
import type { FileSystem, FileSystemOptions } from '../../../src/fs/contract.ts'
import { createFileSystem } from '../../../src/fs/file-system.ts'
import type { PinStatus } from '../../../src/fs/pins/pin-status.ts'
import type { Log } from '../../../src/log.ts'
import type { Calls } from '../../support/door.ts'
import { objectDoor } from '../../support/object-door.ts'
import { project, startTestService, type TestService } from '../../support/service.ts'
import { makeTemporaryFolder, type TemporaryFolder } from '../../support/temporary-folder.ts'
import { waitUntil } from '../../support/wait-until.ts'

type Options = Partial<Pick<FileSystemOptions, 'cacheSizeBytes' | 'pinSizeBytes' | 'cacheTtlMs' | 'readOnly'>>

export interface PinsSetup {
  readonly service: TestService
  readonly fileSystem: FileSystem
  readonly calls: Calls
  /** What was logged as warning or error. */
  readonly told: readonly string[]
  stateDir: string
  readonly cacheDir: string
  /** As it was the last time, where nothing is said. */
  start(options?: Options): Promise<void>
  /** Ends it, and goes on with a copy of the state folder as it was a moment before: what a kill leaves. */
  end(): Promise<void>
  pin(path: string): Promise<void>
  pinOf(path: string): PinStatus
  /** Resolves when all of a pin is here. */
  untilHere(path: string, isSo?: (pin: PinStatus) => boolean): Promise<PinStatus>
}

export const never: AbortSignal = new AbortController().signal

export function usePins(): PinsSetup {
  let temporary: TemporaryFolder
  let service: TestService
  let client: Client
  let fileSystem: FileSystem | undefined
  let calls: Calls
  let options: Options = {}
  let copies = 0
  const told: string[] = []
  const tell = (_fields: object, message: string): void => void told.push(message)
  const log: Log = { debug: () => {}, info: () => {}, warn: tell, error: tell }

  const setup: PinsSetup = {
    stateDir: '',
    told,
    get cacheDir() {
      return join(temporary.path, 'cache')
    },
    get service() {
      return service
    },
    get fileSystem() {
      if (fileSystem === undefined) throw new Error('not started')
      return fileSystem
    },
    get calls() {
      return calls
    },
    async start(own) {
      options = own ?? options
      fileSystem = await createFileSystem({
        files: client.files(project),
        stateDir: setup.stateDir,
        cacheDir: setup.cacheDir,
        closeWaitMs: 2_000,
        ...options,
        log,
      })
      calls = objectDoor(fileSystem)
    },
    async end() {
      const copy = join(temporary.path, `state-${++copies}`)
      cpSync(setup.stateDir, copy, { recursive: true })
      await fileSystem?.close()
      fileSystem = undefined
      setup.stateDir = copy
    },
    async pin(path) {
      const answer = await setup.fileSystem.pin(path, { signal: never })
      if (answer.kind !== 'pinned') throw new Error(JSON.stringify(answer))
    },
    pinOf(path) {
      const pin = setup.fileSystem.pins().find((one) => one.path === path)
      if (pin === undefined) throw new Error(`${path} is not pinned`)
      return pin
    },
    untilHere: (path, isSo = () => true) =>
      waitUntil(`${path} to be here`, () => {
        const pin = setup.pinOf(path)
        return pin.state === 'here' && isSo(pin) ? pin : undefined
      }),
  }

  beforeEach(async () => {
    temporary = await makeTemporaryFolder()
    service = await startTestService()
    client = createClient({ baseUrl: service.baseUrl, apiKey: service.apiKey })
    setup.stateDir = join(temporary.path, 'state')
    options = {}
    told.length = 0
  })

  afterEach(async () => {
    await fileSystem?.close()
    fileSystem = undefined
    await client.close()
    await service.close()
    await temporary.remove()
  })

  return setup
}
