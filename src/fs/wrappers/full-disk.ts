// The operations that keep something, and a word to the person where there is no room: a program's own message rarely says
// whose disk is full.

import { ApiError } from '../../api/errors.ts'
import type { FileSystem } from '../contract.ts'
import { errnoOf } from '../errno-of.ts'
import type { Notice } from '../notice.ts'

/** The same filesystem; `tell` hears of each ENOSPC. */
export function tellingFullDisk(inner: FileSystem, tell: (notice: Notice) => void): FileSystem {
  function watched<Input extends readonly unknown[], Answer>(
    operation: (...input: Input) => Answer,
  ): (...input: Input) => Answer {
    const look = (error: unknown): never => {
      // The service's own lack of room is the service's to tell.
      if (errnoOf(error) === 'ENOSPC' && !(error instanceof ApiError)) tell({ kind: 'diskFull' })
      throw error
    }
    return (...input) => {
      try {
        const answer = operation(...input)
        return answer instanceof Promise ? (answer.catch(look) as Answer) : answer
      } catch (error) {
        return look(error)
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
