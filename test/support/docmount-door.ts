// Interface of the doors that lead to docmount, beyond that of every door (door.ts).

import type { Door } from './door.ts'
import type { FileSystemStatus } from '../../src/fs/status.ts'
import type { Network } from './network.ts'
import type { TestService } from './service.ts'

/** A door of docmount, with access to its service and to the drive's status. */
export interface DocmountDoor extends Door {
  readonly testService: TestService
  /** The network between drive and service; unused unless the door was opened `throughNetwork`. */
  readonly network: Network
  /** Returns the number of changes that the service does not have yet. */
  unsent(): Promise<number>
  status(): Promise<FileSystemStatus>
  /** Unmounts the drive, even with unsent changes, and mounts it again on the same state. */
  remount(): Promise<void>
}

export interface DocmountDoorOptions {
  readonly cacheTtlSec?: number
  readonly closeWaitSec?: number
  /** True: the drive reaches the service through `network`, which a test can interrupt. */
  readonly throughNetwork?: boolean
}
