// What docmount's doors have beyond any door.

import type { Door } from './door.ts'
import type { TestService } from './service.ts'

/** A door of docmount: the service and the drive's own account of itself are at hand. */
export interface DocmountDoor extends Door {
  readonly testService: TestService
  /** How many changes the service has not got yet. */
  unsent(): Promise<number>
}

export interface DocmountDoorOptions {
  readonly cacheTtlSec?: number
  readonly closeWaitSec?: number
}
