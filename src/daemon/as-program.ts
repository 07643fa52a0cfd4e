// Changes that the daemon itself makes for a person, by the calls of a program.

import type { FileSystem } from '../fs/contract.ts'
import type { Notifier } from '../fs/operations.ts'
import { invalidating } from '../webdav/invalidating.ts'
import { PathWalk } from '../webdav/path-walk.ts'

export interface AsProgramParts {
  readonly fileSystem: FileSystem
  /** Of the kernel's door. */
  readonly notifier: Notifier
}

/** Resolves when the kernel has heard of what `work` changed: no program finds a stale name. */
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
