// Listings that are older than what the service has stored.

import type { HeldDrive } from './open-held.ts'
import { waitUntil } from './wait-until.ts'

/** Resolves in a later millisecond, so that two changes have different times. */
export async function tick(): Promise<void> {
  const now = Date.now()
  await waitUntil('the clock', () => Date.now() > now)
}

/** Between `on` and `thaw`, the service returns listings as they were when this was called. */
export function freeze({ testService }: HeldDrive): { on: () => void; thaw: () => void } {
  const asOf = Date.now()
  const { faults } = testService.service
  let thaw = (): void => {}
  return {
    on: () => void (thaw = faults.inject({ kind: 'stale-listing', asOf }, { method: 'GET' })),
    thaw: () => thaw(),
  }
}
