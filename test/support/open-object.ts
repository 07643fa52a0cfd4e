// Opens the filesystem object, the given files in the service behind it.

import { join } from 'node:path'

import { createClient } from '../../src/api/client.ts'
import { createFileSystem } from '../../src/fs/file-system.ts'
import type { OpenDoor } from '../behaviour/topic.ts'
import { serviceBehind } from './behind.ts'
import type { DocmountDoor, DocmountDoorOptions } from './docmount-door.ts'
import { objectDoor } from './object-door.ts'
import { project, startTestService } from './service.ts'
import { makeTemporaryFolder } from './temporary-folder.ts'

/** The filesystem object in this process, the service behind it, no kernel. */
export function openObject(options: DocmountDoorOptions = {}): OpenDoor<DocmountDoor> {
  return async (given) => {
    const temporary = await makeTemporaryFolder()
    const testService = await startTestService()
    for (const [path, content] of given) await testService.other.put(path, content)
    const client = createClient({ baseUrl: testService.baseUrl, apiKey: testService.apiKey })
    const fileSystem = await createFileSystem({
      files: client.files(project),
      stateDir: join(temporary.path, 'state'),
      cacheDir: join(temporary.path, 'cache'),
      ...(options.cacheTtlSec === undefined ? {} : { cacheTtlMs: options.cacheTtlSec * 1_000 }),
      ...(options.closeWaitSec === undefined ? {} : { closeWaitMs: options.closeWaitSec * 1_000 }),
    })
    const door: DocmountDoor = {
      ...objectDoor(fileSystem),
      behind: serviceBehind(testService, () => door),
      testService,
      unsent: async () => fileSystem.status().unsent.length,
    }
    return {
      door,
      explain: () => JSON.stringify(fileSystem.status(), undefined, 2),
      async close() {
        await fileSystem.close()
        await client.close()
        await testService.close()
        await temporary.remove()
      },
    }
  }
}
