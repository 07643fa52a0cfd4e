// Opens a real mount, the given files in the service behind it.

import type { OpenDoor, OpenedDoor } from '../behaviour/topic.ts'
import { startAgent } from './agent.ts'
import { serviceBehind } from './behind.ts'
import type { DocmountDoor, DocmountDoorOptions } from './docmount-door.ts'
import { folderDoor, type FolderDoor } from './folder-door.ts'
import { mountDrive, type MountedDrive, type MountedDriveOptions } from './mounted.ts'
import { startNetwork } from './network.ts'
import { makeOrdinaryUser } from './ordinary-user.ts'
import { startTestService } from './service.ts'
import { makeTemporaryFolder } from './temporary-folder.ts'

export interface MountDoor extends DocmountDoor, FolderDoor {
  readonly drive: MountedDrive
}

type MountDoorName = 'kernel' | 'kernel-user' | 'fuse-native'

/** A real mount, docmount in a child process, the service in this one. */
export function openMount(name: MountDoorName, options: DocmountDoorOptions = {}): OpenDoor<MountDoor> {
  return async (given) => {
    const undo: (() => Promise<unknown>)[] = []
    try {
      return await open(name, options, given, undo)
    } catch (error) {
      await takeBack(undo)
      throw error
    }
  }
}

/** Tells in `undo` how to take back each step as soon as it is made. */
async function open(
  name: MountDoorName,
  { cacheTtlSec, closeWaitSec, throughNetwork = false }: DocmountDoorOptions,
  given: ReadonlyMap<string, Uint8Array>,
  undo: (() => Promise<unknown>)[],
): Promise<OpenedDoor<MountDoor>> {
  const user = name === 'kernel-user' ? await makeOrdinaryUser() : undefined
  undo.push(async () => user?.remove())
  const temporary = await makeTemporaryFolder(user)
  undo.push(() => temporary.remove())
  const testService = await startTestService()
  undo.push(() => testService.close())
  for (const [path, content] of given) await testService.other.put(path, content)
  const network = await startNetwork(() => Number(new URL(testService.baseUrl).port))
  undo.push(() => network.close())
  const how: MountedDriveOptions = {
    testService,
    baseUrl: throughNetwork ? network.baseUrl : testService.baseUrl,
    driver: name === 'fuse-native' ? name : 'kernel',
    folder: temporary.path,
    user,
    args: [
      ...(cacheTtlSec === undefined ? [] : ['--cache-ttl', `${cacheTtlSec}s`]),
      ...(closeWaitSec === undefined ? [] : ['--close-wait', `${closeWaitSec}s`]),
    ],
  }
  let drive = await mountDrive(how)
  undo.push(() => drive.unmount())
  const agent = startAgent(user)
  undo.push(async () => agent.stop())
  const door: MountDoor = {
    ...folderDoor(name, drive.mountpoint, agent),
    user,
    behind: serviceBehind(
      testService,
      () => door,
      async () => (await door.unsent()) === 0,
    ),
    testService,
    get drive() {
      return drive
    },
    network,
    unsent: async () => (await door.status()).unsent.length,
    status: () => drive.status(),
    async remount() {
      await drive.end()
      drive = await mountDrive(how)
    },
  }
  return { door, explain: () => lastLines(drive.log()), close: () => takeBack(undo) }
}

/** Last to first, each of them whatever becomes of the others; throws the first error. */
async function takeBack(undo: (() => Promise<unknown>)[]): Promise<void> {
  const errors: unknown[] = []
  for (const step of undo.reverse()) await step().catch((error: unknown) => errors.push(error))
  if (errors.length > 0) throw errors[0]
}

function lastLines(log: string): string {
  return log.split('\n').slice(-40).join('\n')
}
