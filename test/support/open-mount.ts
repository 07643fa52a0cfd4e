// Opens the doors that are real mounts. The given files are in the service behind them.

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

/** Opens a real mount: docmount runs in a child process, the service in this one. */
export function openMount(name: MountDoorName, options: DocmountDoorOptions = {}): OpenDoor<MountDoor> {
  return async (given) => {
    const undo: (() => Promise<unknown>)[] = []
    try {
      return await open(name, options, given, undo)
    } catch (error) {
      await undoAll(undo)
      throw error
    }
  }
}

/** Opens it step by step; adds a function to `undo` after each, so that a failure later on leaves nothing behind. */
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
  const mountOptions: MountedDriveOptions = {
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
  let drive = await mountDrive(mountOptions)
  undo.push(() => drive.unmount())
  // Makes the calls at the mount, as `user`: this process is the service, and never waits for the mount.
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
      drive = await mountDrive(mountOptions)
    },
  }
  return { door, explain: () => lastLines(drive.log()), close: () => undoAll(undo) }
}

/** Runs all undo steps, last to first, even if some fail; throws the first error. */
async function undoAll(undo: (() => Promise<unknown>)[]): Promise<void> {
  const errors: unknown[] = []
  for (const step of undo.reverse()) await step().catch((error: unknown) => errors.push(error))
  if (errors.length > 0) throw errors[0]
}

function lastLines(log: string): string {
  return log.split('\n').slice(-40).join('\n')
}
