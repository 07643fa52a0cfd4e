// Tests that `scripts/test` leaves out for the sake of whoever waits for it, and `scripts/test --all` runs.

import { it } from 'vitest'
import { isThorough } from './is-thorough.ts'

export { isThorough }

/** Names what this run leaves out: `scripts/test` says it at its end. Does nothing in a thorough run. */
export function leaveOut(what: string): void {
  if (!isThorough) it.skip(`with --all: ${what}`)
}
