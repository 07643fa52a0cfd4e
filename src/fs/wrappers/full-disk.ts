// The operations that keep something, where this machine's disk is full: what is only cached makes room, and they are done again. Where
// nothing is left to go the person is told: a program's own message rarely says whose disk is full.

import { ApiError } from '../../api/errors.ts'
import type { FileSystem } from '../contract.ts'
import { errnoOf } from '../errno-of.ts'
import type { Notice } from '../notice.ts'

export interface FullDiskOptions {
  /** Gives room back on the disk where unsent content is kept. False where there was nothing to give. */
  readonly makeRoom: () => Promise<boolean>
  /** Hears of each ENOSPC that a program is told. */
  readonly tell: (notice: Notice) => void
}

/** The same filesystem. An operation that was refused has changed nothing: it is done again as it was asked for. */
export function withFullDisk(inner: FileSystem, { makeRoom, tell }: FullDiskOptions): FileSystem {
  function watched<Input extends readonly unknown[], Answer>(
    operation: (...input: Input) => Answer,
  ): (...input: Input) => Answer {
    const again = async (input: Input, error: unknown): Promise<Awaited<Answer>> => {
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
        return answer.catch((error: unknown) => again(input, error)) as Answer
      } catch (error) {
        if (!isFull(error)) throw error
        return again(input, error) as Answer
      }
    }
  }
  return {
    ...inner,
    create: watched((...input) => inner.create(...input)),
    open: watched((...input) => inner.open(...input)),
    write: watched((...input) => inner.write(...input)),
    flush: watched((...input) => inner.flush(...input)),
    fsync: watched((...input) => inner.fsync(...input)),
    setattr: watched((...input) => inner.setattr(...input)),
    fallocate: watched((...input) => inner.fallocate(...input)),
    copyFileRange: watched((...input) => inner.copyFileRange(...input)),
    mkdir: watched((...input) => inner.mkdir(...input)),
    unlink: watched((...input) => inner.unlink(...input)),
    rmdir: watched((...input) => inner.rmdir(...input)),
    rename: watched((...input) => inner.rename(...input)),
  }
}

/** The service's own lack of room is the service's to tell. */
function isFull(error: unknown): boolean {
  return errnoOf(error) === 'ENOSPC' && !(error instanceof ApiError)
}
