// Changes that the daemon itself makes at a user's request (`docmount resolve`), by the same file-system calls that a program would
// make, so that the same rules hold.

import type { FileSystem } from '../fs/contract.ts'
import type { Notifier } from '../fs/operations.ts'
import { invalidating } from '../webdav/invalidating.ts'
import { PathWalk } from '../webdav/path-walk.ts'

export interface AsProgramParts {
  readonly fileSystem: FileSystem
  /** Tells the kernel of changes that did not come through its door. */
  readonly notifier: Notifier
}

/** Runs `work`, and resolves when the kernel has dropped cached names that `work` changed: no program finds a stale name. */
export async function asProgram<T>(
  { fileSystem, notifier }: AsProgramParts,
  work: (walk: PathWalk) => Promise<T>,
): Promise<T> {
  const walk = new PathWalk(invalidating(fileSystem, notifier), new AbortController().signal)
  try {
    return await work(walk)
  } finally {
    walk.releaseNodes()
    await notifier.heard()
  }
}
