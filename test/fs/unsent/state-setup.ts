// A filesystem object on a state folder that can be closed, copied as a kill would leave it, damaged and opened again.

import { cpSync, readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { afterEach, beforeEach } from 'vitest'
import { createClient, type Client } from '../../../src/api/client.ts'
import type { FileSystem } from '../../../src/fs/contract.ts'
import { createFileSystem } from '../../../src/fs/file-system.ts'
import type { Log } from '../../../src/log.ts'
import type { Calls } from '../../support/door.ts'
import { objectDoor } from '../../support/object-door.ts'
import { project, startTestService, type TestService } from '../../support/service.ts'
import { makeTemporaryFolder, type TemporaryFolder } from '../../support/temporary-folder.ts'

export interface StateSetup {
  readonly service: TestService
  readonly fileSystem: FileSystem
  readonly calls: Calls
  /** What was logged as warning or error since the last start. */
  readonly told: readonly string[]
  stateDir: string
  cacheDir: string
  start(): Promise<void>
  /**
   * Ends it, and goes on with a copy of the state folder as it was a moment before: what a kill leaves. (In one process a
   * database stays locked until its statements are collected.)
   */
  end(): Promise<void>
  /** The files of the spool with content that was saved for this path. */
  spoolFile(path: string): string
}

export function useState(): StateSetup {
  let temporary: TemporaryFolder
  let service: TestService
  let client: Client
  let fileSystem: FileSystem | undefined
  let calls: Calls
  let told: string[] = []
  let copies = 0

  const log: Log = {
    debug: () => {},
    info: () => {},
    warn: (_fields, message) => told.push(message),
    error: (_fields, message) => told.push(message),
  }

  const setup: StateSetup = {
    stateDir: '',
    cacheDir: '',
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
    get told() {
      return told
    },
    async start() {
      told = []
      fileSystem = await createFileSystem({
        files: client.files(project),
        stateDir: setup.stateDir,
        cacheDir: setup.cacheDir,
        closeWaitMs: 200,
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
    spoolFile(path) {
      const folder = join(setup.stateDir, 'spool')
      const info = readdirSync(folder).find(
        (name) =>
          name.endsWith('.json') &&
          (JSON.parse(readFileSync(join(folder, name), 'utf8')) as { path: string }).path === path,
      )
      if (info === undefined) throw new Error(`nothing in the spool is of ${path}`)
      return join(folder, info.slice(0, -'.json'.length))
    },
  }

  beforeEach(async () => {
    temporary = await makeTemporaryFolder()
    service = await startTestService()
    client = createClient({ baseUrl: service.baseUrl, apiKey: service.apiKey })
    setup.stateDir = join(temporary.path, 'state')
    setup.cacheDir = join(temporary.path, 'cache')
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
