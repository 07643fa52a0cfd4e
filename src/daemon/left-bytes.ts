// The bytes of unsent changes that are not sent yet: the number that a progress line counts down.

import type { Unsent } from '../fs/status.ts'

export function leftBytesOf(unsent: readonly Unsent[]): number {
  return unsent.reduce((sum, { bytes, sentBytes }) => sum + Math.max(0, bytes - sentBytes), 0)
}
