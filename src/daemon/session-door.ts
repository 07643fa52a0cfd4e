// Doors of a session: the kernel, WebDAV, or both.

import type { FileSystem } from '../fs/contract.ts'
import type { DriverName, Mounted } from '../fuse/driver.ts'

/** `webdav`: served without a mount. */
export type DoorName = DriverName | 'webdav'

/** Address and login of the WebDAV door; the password itself is only in its file. */
export interface WebdavAddress {
  /** Without a slash at the end. */
  readonly url: string
  readonly user: string
  readonly passwordFile: string
}

export interface OpenedDoor {
  readonly mounted: Mounted
  readonly webdav?: WebdavAddress | undefined
  /** Closes files that the door keeps open after a PUT (pending-puts.ts); called before a wait until everything is sent. */
  readonly finishPendingPuts?: () => Promise<void>
}

/** A door whose checks have passed; `open` it when the filesystem is ready. */
export interface SessionDoor {
  readonly name: DoorName
  /** One sentence for the log. */
  readonly why: string
  open(fileSystem: FileSystem): Promise<OpenedDoor>
}

/** Undoes one step of a start that failed with this error. */
export type UndoStart = (error: unknown) => Promise<unknown>

/** Returns the filesystem with `wait` and `drain` that finish the door's pending PUTs first. */
export function finishingPendingPuts(fileSystem: FileSystem, { finishPendingPuts }: OpenedDoor): FileSystem {
  if (finishPendingPuts === undefined) return fileSystem
  return {
    ...fileSystem,
    async wait(path, options) {
      await finishPendingPuts()
      await fileSystem.wait(path, options)
    },
    async drain(options) {
      await finishPendingPuts()
      return fileSystem.drain(options)
    },
  }
}
