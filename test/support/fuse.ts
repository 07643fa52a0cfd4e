// Check that this machine can mount.

import { accessSync, constants } from 'node:fs'

/** Why no drive can be mounted here; undefined where one can. */
export function whyNoFuse(): string | undefined {
  try {
    accessSync('/dev/fuse', constants.R_OK | constants.W_OK)
    return undefined
  } catch (error) {
    return `/dev/fuse cannot be opened (${(error as NodeJS.ErrnoException).code})`
  }
}
