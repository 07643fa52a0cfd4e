// Repeats operations that failed because this machine's disk is full, after the cache has freed space. If it has none to free,
// the person is notified: a program's own message rarely says whose disk is full.

import { ApiError } from '../../api/errors.ts'
import type { FileSystem } from '../contract.ts'
import { errnoOf } from '../errno-of.ts'
import type { Notice } from '../notice.ts'

export interface FullDiskOptions {
  /** Frees space on the disk where unsent content is kept. False if there was none to free. */
  readonly makeRoom: () => Promise<boolean>
  /** Called for each ENOSPC that a program gets. */
  readonly tell: (notice: Notice) => void
}

/** Returns the filesystem that repeats: a refused operation has changed nothing, and is called again as it was. */
export function withFullDisk(inner: FileSystem, { makeRoom, tell }: FullDiskOptions): FileSystem {
  function repeated<Input extends readonly unknown[], Answer>(
    operation: (...input: Input) => Answer,
  ): (...input: Input) => Answer {
    const repeat = async (input: Input, error: unknown): Promise<Awaited<Answer>> => {
      if (!isFull(error)) throw error
      let refusal = error
      while (await makeRoom()) {
        try {
          return await operation(...input)
        } catch (next) {
          if (!isFull(next)) throw next
          refusal = next
        }
      }
      tell({ kind: 'diskFull' })
      throw refusal
    }
    return (...input) => {
      try {
        const answer = operation(...input)
        if (!(answer instanceof Promise)) return answer
        return answer.catch((error: unknown) => repeat(input, error)) as Answer
      } catch (error) {
        if (!isFull(error)) throw error
        return repeat(input, error) as Answer
      }
    }
  }
  return {
    ...inner,
    create: repeated((...input) => inner.create(...input)),
    open: repeated((...input) => inner.open(...input)),
    write: repeated((...input) => inner.write(...input)),
    flush: repeated((...input) => inner.flush(...input)),
    fsync: repeated((...input) => inner.fsync(...input)),
    setattr: repeated((...input) => inner.setattr(...input)),
    fallocate: repeated((...input) => inner.fallocate(...input)),
    copyFileRange: repeated((...input) => inner.copyFileRange(...input)),
    mkdir: repeated((...input) => inner.mkdir(...input)),
    unlink: repeated((...input) => inner.unlink(...input)),
    rmdir: repeated((...input) => inner.rmdir(...input)),
    rename: repeated((...input) => inner.rename(...input)),
  }
}

/** True for a full disk of this machine, not for a full service. */
function isFull(error: unknown): boolean {
  return errnoOf(error) === 'ENOSPC' && !(error instanceof ApiError)
}
