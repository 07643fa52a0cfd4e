// Opens the door `davfs2`: docmount serves a drive by WebDAV, and davfs2 mounts it. The given files are in the service.

import type { OpenDoor } from '../behaviour/topic.ts'
import { startAgent } from './agent.ts'
import { serviceBehind } from './behind.ts'
import { mountDavfs2 } from './davfs2.ts'
import type { Door } from './door.ts'
import { folderDoor } from './folder-door.ts'
import { startTestService } from './service.ts'
import { makeTemporaryFolder } from './temporary-folder.ts'
import { startWebdavDrive } from './webdav-drive.ts'

/** docmount and davfs2 run in processes of their own, the service in this one. */
export function openDavfs2(): OpenDoor {
  return async (given) => {
    const temporary = await makeTemporaryFolder()
    const testService = await startTestService()
    for (const [path, content] of given) await testService.other.put(path, content)
    const { baseUrl, apiKey } = testService
    const drive = await startWebdavDrive({ folder: temporary.path, baseUrl, apiKey })
    const davfs2 = await mountDavfs2(drive, temporary.path)
    const agent = startAgent()
    const door: Door = {
      ...folderDoor('davfs2', davfs2.mountpoint, agent),
      behind: serviceBehind(testService, () => door),
    }
    return {
      door,
      explain: () => drive.log(),
      async close() {
        agent.stop()
        await davfs2.unmount()
        await drive.remove()
        await testService.close()
        await temporary.remove()
      },
    }
  }
}
