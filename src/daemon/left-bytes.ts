// How much of what is unsent is not on its way yet: what a progress line counts down.

import type { Unsent } from '../fs/status.ts'

export function leftBytesOf(unsent: readonly Unsent[]): number {
  return unsent.reduce((sum, { bytes, sentBytes }) => sum + Math.max(0, bytes - sentBytes), 0)
}
