// A drive with tables, at object level: the real service behind it, no kernel.

import { join } from 'node:path'
import { createClient } from '../../src/api/client.ts'
import type { Tables } from '../../src/api/table-types.ts'
import type { FileSystem } from '../../src/fs/contract.ts'
import { createFileSystem } from '../../src/fs/file-system.ts'
import type { Log } from '../../src/log.ts'
import { withTablesFolder } from '../../src/tables-drive/tables-drive.ts'
import type { Calls } from '../support/door.ts'
import { objectDoor } from '../support/object-door.ts'
import { project, startTestService, type TestService } from '../support/service.ts'
import { makeTemporaryFolder } from '../support/temporary-folder.ts'

export interface TablesDrive extends AsyncDisposable {
  readonly door: Calls
  readonly fileSystem: FileSystem
  readonly tables: Tables
  readonly testService: TestService
  readonly warnings: readonly string[]
  /** A reconcile table of this name; its id. */
  makeTable(name: string): Promise<string>
  /** The JSON in a file of the drive. */
  json(path: string): Promise<Record<string, unknown>>
}

export interface TablesDriveSetup {
  readonly readOnly?: boolean
  readonly cacheTtlMs?: number
  /** Documents of the project, before the drive is opened. */
  readonly given?: Readonly<Record<string, string>>
}

export async function openTablesDrive(setup: TablesDriveSetup = {}): Promise<TablesDrive> {
  const { readOnly, cacheTtlMs, given = {} } = setup
  const temporary = await makeTemporaryFolder()
  const testService = await startTestService()
  for (const [path, content] of Object.entries(given)) await testService.other.put(path, content)
  const client = createClient({ baseUrl: testService.baseUrl, apiKey: testService.apiKey })
  const tables = client.tables(project)
  const warnings: string[] = []
  const log: Log = {
    debug() {},
    info() {},
    warn: (_fields, message) => void warnings.push(message),
    error() {},
  }
  const options = {
    ...(readOnly === undefined ? {} : { readOnly }),
    ...(cacheTtlMs === undefined ? {} : { cacheTtlMs }),
  }
  const inner = await createFileSystem({
    files: client.files(project),
    stateDir: join(temporary.path, 'state'),
    cacheDir: join(temporary.path, 'cache'),
    ...options,
  })
  const forwardedDir = join(temporary.path, 'forwarded')
  const fileSystem = await withTablesFolder(inner, { tables, log, forwardedDir, ...options })
  const door = objectDoor(fileSystem)
  return {
    door,
    fileSystem,
    tables,
    testService,
    warnings,
    async makeTable(name) {
      const { id } = await tables.create({ name, settings: { type: 'reconcile' } })
      if (id === undefined) throw new Error('a table without id')
      return id
    },
    json: async (path) => JSON.parse((await door.readFile(path)).toString()) as Record<string, unknown>,
    async [Symbol.asyncDispose]() {
      await fileSystem.close()
      await client.close()
      await testService.close()
      await temporary.remove()
    },
  }
}

/** Matches that the table has for these values of one field. */
export async function matched(
  tables: Tables,
  id: string,
  field: string,
  values: unknown[],
): Promise<unknown> {
  return (await tables.reconcile(id, { data: { [field]: values } })).data?.[field]
}

/** The code of a rejection. */
export async function codeOf(work: Promise<unknown>): Promise<string> {
  try {
    await work
    return 'none'
  } catch (error) {
    return String((error as { code?: unknown }).code)
  }
}
