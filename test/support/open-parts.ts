// A filesystem with access to its parts, for tests of functions that take single parts. Its queue is paused: nothing is sent.

import { join } from 'node:path'
import { createClient } from '../../src/api/client.ts'
import type { FileSystem, FileSystemOptions } from '../../src/fs/contract.ts'
import { operationsOf } from '../../src/fs/file-system.ts'
import type { Notice } from '../../src/fs/notice.ts'
import { start, stop } from '../../src/fs/start.ts'
import type { Superblock } from '../../src/fs/superblock.ts'
import type { Calls } from './door.ts'
import { objectDoor } from './object-door.ts'
import { borrowTestService, type TestService } from './service.ts'
import { makeTemporaryFolder } from './temporary-folder.ts'

export interface OpenParts extends AsyncDisposable {
  readonly sb: Superblock
  readonly operations: FileSystem
  readonly calls: Calls
  readonly service: TestService
  /** Notices to the user so far. */
  readonly notices: readonly Notice[]
  /** Temporary folder with `state` and `cache`. */
  readonly folder: string
}

/** Starts a service with `documents` (content by path), and a filesystem on it. */
export async function openParts(
  documents: Readonly<Record<string, string>> = {},
  options: Pick<FileSystemOptions, 'world' | 'cacheTtlMs' | 'unsupportedAs'> = {},
): Promise<OpenParts> {
  const temporary = await makeTemporaryFolder()
  const service = await borrowTestService()
  for (const [path, content] of Object.entries(documents)) await service.other.put(path, content)
  const client = createClient({ baseUrl: service.baseUrl, apiKey: service.apiKey })
  const notices: Notice[] = []
  const sb = await start({
    files: client.files(service.project),
    stateDir: join(temporary.path, 'state'),
    cacheDir: join(temporary.path, 'cache'),
    closeWaitMs: 0,
    ...options,
    onNotice: (notice) => void notices.push(notice),
  })
  sb.queue.pause()
  const operations = operationsOf(sb)
  return {
    sb,
    operations,
    calls: objectDoor(operations),
    service,
    notices,
    folder: temporary.path,
    async [Symbol.asyncDispose]() {
      await stop(sb)
      await client.close()
      await service.close()
      await temporary.remove()
    },
  }
}
