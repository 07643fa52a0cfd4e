// Tests that only `scripts/test --all` runs, because they take long.

import { it } from 'vitest'
import { isThorough } from './is-thorough.ts'

export { isThorough }

/** Adds a skipped test named `what`, which `scripts/test` prints at its end. Does nothing in a run of all tests. */
export function leaveOut(what: string): void {
  if (!isThorough) it.skip(`with --all: ${what}`)
}

/** The kernel drivers of tests that show the same at each: the default one, and in a run of all tests both. */
export const mountDrivers: readonly ('kernel' | 'fuse-native')[] = isThorough
  ? ['kernel', 'fuse-native']
  : ['kernel']
