// Abilities of docmount's doors beyond those of any door.

import type { Door } from './door.ts'
import type { FileSystemStatus } from '../../src/fs/status.ts'
import type { Network } from './network.ts'
import type { TestService } from './service.ts'

/** A door of docmount: the service and the drive's own account of itself are at hand. */
export interface DocmountDoor extends Door {
  readonly testService: TestService
  /** Between the drive and the service, where the door was opened `throughNetwork`. */
  readonly network: Network
  /** How many changes the service has not got yet. */
  unsent(): Promise<number>
  status(): Promise<FileSystemStatus>
  /** Takes the drive down, whatever is unsent, and mounts it again on the same state. */
  remount(): Promise<void>
}

export interface DocmountDoorOptions {
  readonly cacheTtlSec?: number
  readonly closeWaitSec?: number
  /** The drive reaches the service through `network`, which can be lost. */
  readonly throughNetwork?: boolean
}
