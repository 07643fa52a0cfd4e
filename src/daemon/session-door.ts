// Doors of a session: the kernel, WebDAV, or both.

import type { FileSystem } from '../fs/contract.ts'
import type { DriverName, Mounted } from '../fuse/driver.ts'

/** `webdav`: no mount at all. */
export type DoorName = DriverName | 'webdav'

/** How the WebDAV door is reached; the password itself is only in its file. */
export interface WebdavAddress {
  /** Without a slash at the end. */
  readonly url: string
  readonly user: string
  readonly passwordFile: string
}

export interface OpenedDoor {
  readonly mounted: Mounted
  readonly webdav?: WebdavAddress | undefined
  /** Closes what the door itself keeps open: before anybody waits for everything to be sent. */
  readonly finishPendingPuts?: () => Promise<void>
}

/** Checked and ready; opened when the filesystem is there. */
export interface SessionDoor {
  readonly name: DoorName
  /** One sentence for the log. */
  readonly why: string
  open(fileSystem: FileSystem): Promise<OpenedDoor>
}

/** Takes a step of a start back that failed with this error. */
export type UndoStart = (error: unknown) => Promise<unknown>

/** The filesystem for whoever waits for it: the door lets go first. */
export function finishingPendingPuts(fileSystem: FileSystem, { finishPendingPuts }: OpenedDoor): FileSystem {
  if (finishPendingPuts === undefined) return fileSystem
  return {
    ...fileSystem,
    async wait(path, how) {
      await finishPendingPuts()
      await fileSystem.wait(path, how)
    },
    async drain(how) {
      await finishPendingPuts()
      return fileSystem.drain(how)
    },
  }
}
