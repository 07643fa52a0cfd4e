// A filesystem object that can be ended as by a kill, have its state folder changed on disk, and be started again.

import { cpSync } from 'node:fs'
import { join } from 'node:path'
import { afterEach, beforeEach } from 'vitest'
import { createClient, type Client } from '../../src/api/client.ts'
import type { FileSystem, FileSystemOptions } from '../../src/fs/contract.ts'
import { createFileSystem } from '../../src/fs/file-system.ts'
import type { Log } from '../../src/log.ts'
import type { Calls } from './door.ts'
import { objectDoor } from './object-door.ts'
import { borrowTestService, type TestService } from './service.ts'
import { makeTemporaryFolder, type TemporaryFolder } from './temporary-folder.ts'

export type RestartOptions = Partial<
  Pick<FileSystemOptions, 'cacheSizeBytes' | 'pinSizeBytes' | 'cacheTtlMs' | 'closeWaitMs' | 'readOnly'>
>

export interface RestartedFileSystem {
  readonly service: TestService
  readonly fileSystem: FileSystem
  readonly calls: Calls
  /** Warnings and errors logged since the last start. */
  readonly logged: readonly string[]
  stateDir: string
  readonly cacheDir: string
  /** Starts it. Default of `options`: those of the test's last start. */
  start(options?: RestartOptions): Promise<void>
  /**
   * Ends it as by a kill: `stateDir` becomes a copy from before the close, so what closing writes is lost. (A copy also because
   * libsql keeps the old database locked until its statements are garbage-collected.)
   */
  end(): Promise<void>
}

/** Registers hooks that set one up for each test of the file. */
export function useRestartedFileSystem(defaults: RestartOptions): RestartedFileSystem {
  let temporary: TemporaryFolder
  let service: TestService
  let client: Client
  let fileSystem: FileSystem | undefined
  let calls: Calls
  let options: RestartOptions
  let logged: string[] = []
  let copies = 0
  const addMessage = (_fields: object, message: string): void => void logged.push(message)
  const log: Log = { debug: () => {}, info: () => {}, warn: addMessage, error: addMessage }

  beforeEach(async () => {
    temporary = await makeTemporaryFolder()
    service = await borrowTestService()
    client = createClient({ baseUrl: service.baseUrl, apiKey: service.apiKey })
    restarted.stateDir = join(temporary.path, 'state')
    options = {}
  })

  afterEach(async () => {
    await fileSystem?.close()
    fileSystem = undefined
    await client.close()
    await service.close()
    await temporary.remove()
  })

  const restarted: RestartedFileSystem = {
    stateDir: '',
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
    get logged() {
      return logged
    },
    async start(own) {
      logged = []
      options = own ?? options
      fileSystem = await createFileSystem({
        files: client.files(service.project),
        stateDir: restarted.stateDir,
        cacheDir: restarted.cacheDir,
        ...defaults,
        ...options,
        log,
      })
      calls = objectDoor(fileSystem)
    },
    async end() {
      const copy = join(temporary.path, `state-${++copies}`)
      cpSync(restarted.stateDir, copy, { recursive: true })
      await fileSystem?.close()
      fileSystem = undefined
      restarted.stateDir = copy
    },
  }
  return restarted
}
