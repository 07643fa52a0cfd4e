// Listings that lag behind what is stored.

import type { HeldDrive } from './open-held.ts'
import { waitUntil } from './wait-until.ts'

/** A later millisecond. */
export async function tick(): Promise<void> {
  const now = Date.now()
  await waitUntil('the clock', () => Date.now() > now)
}

/** From `on` to `thaw`, listings are answered as they were when this was called. */
export function freeze({ testService }: HeldDrive): { on: () => void; thaw: () => void } {
  const asOf = Date.now()
  const { faults } = testService.service
  let thaw = (): void => {}
  return {
    on: () => void (thaw = faults.inject({ kind: 'stale-listing', asOf }, { method: 'GET' })),
    thaw: () => thaw(),
  }
}
