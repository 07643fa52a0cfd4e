// Opens a real mount, the given files in the service behind it.

import type { OpenDoor } from '../behaviour/topic.ts'
import { startAgent } from './agent.ts'
import { serviceBehind } from './behind.ts'
import type { DocmountDoor, DocmountDoorOptions } from './docmount-door.ts'
import { folderDoor, type FolderDoor } from './folder-door.ts'
import { mountDrive, type MountedDrive } from './mounted.ts'
import { startTestService } from './service.ts'
import { makeTemporaryFolder } from './temporary-folder.ts'

export interface MountDoor extends DocmountDoor, FolderDoor {
  readonly drive: MountedDrive
}

/** A real mount through `driver`, docmount in a child process, the service in this one. */
export function openMount(
  driver: 'kernel' | 'fuse-native',
  options: DocmountDoorOptions = {},
): OpenDoor<MountDoor> {
  return async (given) => {
    const temporary = await makeTemporaryFolder()
    const testService = await startTestService()
    for (const [path, content] of given) await testService.other.put(path, content)
    const { cacheTtlSec, closeWaitSec } = options
    const drive = await mountDrive({
      testService,
      driver,
      folder: temporary.path,
      args: [
        ...(cacheTtlSec === undefined ? [] : ['--cache-ttl', `${cacheTtlSec}s`]),
        ...(closeWaitSec === undefined ? [] : ['--close-wait', `${closeWaitSec}s`]),
      ],
    })
    const agent = startAgent()
    const door: MountDoor = {
      ...folderDoor(driver, drive.mountpoint, agent),
      behind: serviceBehind(testService, () => door),
      testService,
      drive,
      async unsent() {
        const { stdout } = await drive.docmount(['status', drive.mountpoint, '--json'])
        return (JSON.parse(stdout) as { unsent: unknown[] }).unsent.length
      },
    }
    return {
      door,
      explain: () => lastLines(drive.log()),
      async close() {
        agent.stop()
        try {
          await drive.unmount()
        } finally {
          await testService.close()
          await temporary.remove()
        }
      },
    }
  }
}

function lastLines(log: string): string {
  return log.split('\n').slice(-40).join('\n')
}
