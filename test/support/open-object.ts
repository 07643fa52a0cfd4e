// Opens the door `object`: the filesystem object. The given files are in the service behind it.

import { join } from 'node:path'

import { createClient } from '../../src/api/client.ts'
import type { FileSystem } from '../../src/fs/contract.ts'
import { createFileSystem } from '../../src/fs/file-system.ts'
import type { OpenDoor } from '../behaviour/topic.ts'
import { serviceBehind } from './behind.ts'
import type { DocmountDoor, DocmountDoorOptions } from './docmount-door.ts'
import { startNetwork } from './network.ts'
import { objectDoor } from './object-door.ts'
import { project, startTestService } from './service.ts'
import { makeTemporaryFolder } from './temporary-folder.ts'

/** Opens the filesystem object and its service, both in this process, without a kernel. */
export function openObject(options: DocmountDoorOptions = {}): OpenDoor<DocmountDoor> {
  return async (given) => {
    const temporary = await makeTemporaryFolder()
    const testService = await startTestService()
    for (const [path, content] of given) await testService.other.put(path, content)
    const network = await startNetwork(() => Number(new URL(testService.baseUrl).port))
    const { baseUrl } = options.throughNetwork === true ? network : testService
    const client = createClient({ baseUrl, apiKey: testService.apiKey })
    const start = (): ReturnType<typeof createFileSystem> =>
      createFileSystem({
        files: client.files(project),
        stateDir: join(temporary.path, 'state'),
        cacheDir: join(temporary.path, 'cache'),
        ...(options.cacheTtlSec === undefined ? {} : { cacheTtlMs: options.cacheTtlSec * 1_000 }),
        ...(options.closeWaitSec === undefined ? {} : { closeWaitMs: options.closeWaitSec * 1_000 }),
      })
    let fileSystem = await start()
    const door: DocmountDoor = {
      ...objectDoor(fileSystem),
      behind: serviceBehind(testService, () => door),
      testService,
      network,
      unsent: async () => fileSystem.status().unsent.length,
      status: async () => fileSystem.status(),
      async remount() {
        await fileSystem.close()
        fileSystem = await start()
        Object.assign(door, objectDoor(fileSystem))
      },
    }
    return {
      door,
      explain: () => described(fileSystem),
      async close() {
        await fileSystem.close()
        await client.close()
        await network.close()
        await testService.close()
        await temporary.remove()
      },
    }
  }
}

/** Returns the drive's status as text, or the error if it was closed: its restart may have failed. */
function described(fileSystem: FileSystem): string {
  try {
    return JSON.stringify(fileSystem.status(), undefined, 2)
  } catch (error) {
    return String(error)
  }
}
