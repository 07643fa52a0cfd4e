// Check if this machine can mount.

import { accessSync, constants } from 'node:fs'

/** Returns why this machine cannot mount a drive; undefined if it can. */
export function whyNoFuse(): string | undefined {
  try {
    accessSync('/dev/fuse', constants.R_OK | constants.W_OK)
    return undefined
  } catch (error) {
    return `/dev/fuse cannot be opened (${(error as NodeJS.ErrnoException).code})`
  }
}
