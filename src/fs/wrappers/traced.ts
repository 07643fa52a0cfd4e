// Trace of every operation with its path, its result and its time, to find faults: a wrapper, so that it costs nothing if no
// trace is wanted. `forget` and `remember` are bookkeeping, and not traced.

import type { Clock } from '../../world/clock.ts'
import type { FileSystem, OperationRecord } from '../contract.ts'
import { errnoOf } from '../errno-of.ts'
import type { MaybePromise, Operations } from '../operations.ts'

/** Paths of nodes and handles, as they are before the operation. */
export interface Places {
  readonly node: (ino: number) => string
  readonly handle: (fh: number) => string
}

export function traced(
  inner: FileSystem,
  places: Places,
  tell: (record: OperationRecord) => void,
  clock: Clock,
): FileSystem {
  const { node, handle } = places
  const child = (parent: number, name: string): string => `${node(parent).replace(/\/$/, '')}/${name}`

  function timed<T>(operation: keyof Operations, path: string, call: () => T): T
  function timed(operation: keyof Operations, path: string, call: () => unknown): unknown {
    const startedAt = clock.monotonic()
    const end = (result: string | number): void =>
      tell({ operation, path, result, elapsedUs: Math.round((clock.monotonic() - startedAt) * 1000) })
    const failed = (error: unknown): never => {
      end(errnoOf(error))
      throw error
    }
    let answer: MaybePromise<unknown>
    try {
      answer = call()
    } catch (error) {
      return failed(error)
    }
    if (answer instanceof Promise) {
      return answer.then((value: unknown) => {
        end(resultOf(value))
        return value
      }, failed)
    }
    end(resultOf(answer))
    return answer
  }

  return {
    ...inner,
    lookup: (parent, name, caller) =>
      timed('lookup', child(parent, name), () => inner.lookup(parent, name, caller)),
    getattr: (ino, fh, caller) => timed('getattr', node(ino), () => inner.getattr(ino, fh, caller)),
    setattr: (ino, change, fh, caller) =>
      timed('setattr', node(ino), () => inner.setattr(ino, change, fh, caller)),
    opendir: (ino, caller) => timed('opendir', node(ino), () => inner.opendir(ino, caller)),
    readdir: (fh, cookie, filler, caller) =>
      timed('readdir', handle(fh), () => inner.readdir(fh, cookie, filler, caller)),
    releasedir: (fh) => timed('releasedir', handle(fh), () => inner.releasedir(fh)),
    fsyncdir: (ino, caller) => timed('fsyncdir', node(ino), () => inner.fsyncdir(ino, caller)),
    open: (ino, flags, caller) => timed('open', node(ino), () => inner.open(ino, flags, caller)),
    create: (parent, name, options, caller) =>
      timed('create', child(parent, name), () => inner.create(parent, name, options, caller)),
    read: (fh, offset, length, caller) =>
      timed('read', handle(fh), () => inner.read(fh, offset, length, caller)),
    write: (fh, offset, data, caller) =>
      timed('write', handle(fh), () => inner.write(fh, offset, data, caller)),
    flush: (fh, caller) => timed('flush', handle(fh), () => inner.flush(fh, caller)),
    fsync: (fh, caller) => timed('fsync', handle(fh), () => inner.fsync(fh, caller)),
    release: (fh) => timed('release', handle(fh), () => inner.release(fh)),
    fallocate: (fh, offset, length, keepSize, caller) =>
      timed('fallocate', handle(fh), () => inner.fallocate(fh, offset, length, keepSize, caller)),
    copyFileRange: (fhIn, offsetIn, fhOut, offsetOut, length, caller) =>
      timed('copyFileRange', `${handle(fhIn)} → ${handle(fhOut)}`, () =>
        inner.copyFileRange(fhIn, offsetIn, fhOut, offsetOut, length, caller),
      ),
    mkdir: (parent, name, mode, caller) =>
      timed('mkdir', child(parent, name), () => inner.mkdir(parent, name, mode, caller)),
    unlink: (parent, name, caller) =>
      timed('unlink', child(parent, name), () => inner.unlink(parent, name, caller)),
    rmdir: (parent, name, caller) =>
      timed('rmdir', child(parent, name), () => inner.rmdir(parent, name, caller)),
    rename: (parent, name, newParent, newName, flags, caller) =>
      timed('rename', `${child(parent, name)} → ${child(newParent, newName)}`, () =>
        inner.rename(parent, name, newParent, newName, flags, caller),
      ),
    statfs: () => timed('statfs', '/', () => inner.statfs()),
  }
}

function resultOf(value: unknown): string | number {
  if (typeof value === 'number') return value
  if (Array.isArray(value))
    return (value as readonly Uint8Array[]).reduce((sum, { length }) => sum + length, 0)
  const isNegative =
    typeof value === 'object' && value !== null && 'entryTtlMs' in value && !('attributeTtlMs' in value)
  return isNegative ? 'ENOENT' : 'ok'
}
