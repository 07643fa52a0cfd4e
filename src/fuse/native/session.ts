// State of one mount of the binding: cached names, open files, and calls being served.

import { setTimeout as sleep } from 'node:timers/promises'

import type { Log } from '../../log.ts'
import { errnoOf } from '../../fs/errno-of.ts'
import type { Notifier, Opened, Operations } from '../../fs/operations.ts'
import { errnoNumber } from '../errno-number.ts'
import { HiddenFiles } from './hidden-files.ts'
import { NameCache } from './name-cache.ts'
import { kernelTtlMs } from './options.ts'
import { Paths } from './paths.ts'
import { NativeRequest } from './request.ts'
import { KernelSizes } from './kernel-sizes.ts'

/** The binding's callback: takes 0 and values, or a negative errno alone. */
export type Reply<Values extends unknown[] = []> = (
  ...answer: [errno: number, ...Values] | [errno: number]
) => void

/** Added to the cache lifetime: the kernel counts it from when the answer arrives, in steps of up to 10 ms. */
const marginMs = 50

/** Most names in the name cache. */
const maxCachedNames = 10_000

export class NativeSession {
  readonly operations: Operations
  readonly log: Log
  readonly names: NameCache
  readonly paths: Paths
  readonly hidden: HiddenFiles = new HiddenFiles()
  readonly kernelSizes: KernelSizes = new KernelSizes()
  /** Nodes of the open files, by handle: the path of a file may change while it is open. */
  readonly nodesByHandle: Map<number, number> = new Map<number, number>()
  readonly #requests = new Set<NativeRequest>()
  /** Time (ms, `performance.now`) of the last answer to the kernel, which it may cache. */
  #lastAnswerAtMs = -Infinity

  constructor(operations: Operations, log: Log) {
    this.operations = operations
    this.names = new NameCache(operations, { capacity: maxCachedNames, maximumTtlMs: kernelTtlMs })
    this.paths = new Paths(operations, this.names)
    this.log = log
  }

  /** Notifications cannot reach the kernel here; only our own name cache follows them. */
  get notifier(): Notifier {
    return {
      attributesChanged() {},
      contentChanged() {},
      entryChanging: (parent, name) => () => this.names.drop(parent, name),
      entryChanged: (parent, name) => this.names.drop(parent, name),
      // Not needed: the name cache has references on few nodes.
      async dropUnused() {},
      // Resolves when everything that the kernel has cached has expired.
      heard: async () => {
        const leftMs = this.#lastAnswerAtMs + kernelTtlMs + marginMs - performance.now()
        if (leftMs > 0) await sleep(leftMs)
      },
    }
  }

  /** Serves one call: passes the result of `work`, or a negative errno, to `reply`, once. Never throws. */
  serve<Values extends unknown[]>(
    operation: string,
    reply: Reply<Values>,
    work: (request: NativeRequest) => Promise<[number, ...Values]>,
  ): void {
    const request = new NativeRequest(this.operations)
    this.#requests.add(request)
    work(request)
      .then(
        (answer) => reply(...answer),
        (error: unknown) => reply(-this.#errno(operation, error)),
      )
      .catch((error: unknown) => this.log.error({ err: error, operation }, 'an answer did not reach libfuse'))
      .finally(() => {
        this.#lastAnswerAtMs = performance.now()
        this.#requests.delete(request)
        request.releaseNodes()
      })
      .catch((error: unknown) => this.log.error({ err: error, operation }, 'a call did not end well'))
  }

  /** Records the node of a handle, and returns the handle. */
  addHandle(ino: number, { fh }: Opened): number {
    this.nodesByHandle.set(fh, ino)
    return fh
  }

  async release(fh: number): Promise<void> {
    this.nodesByHandle.delete(fh)
    await this.operations.release(fh)
  }

  /** Releases everything when the kernel has unmounted: it does not send RELEASE for files that are still open. */
  async end(): Promise<void> {
    for (const request of this.#requests) request.abort()
    const handles = [...this.nodesByHandle.keys()]
    const released = await Promise.allSettled(handles.map((fh) => this.release(fh)))
    for (const result of released) {
      if (result.status === 'rejected') this.log.warn({ err: result.reason }, 'release failed')
    }
    this.names.clear()
  }

  #errno(operation: string, error: unknown): number {
    const name = errnoOf(error)
    if (name === 'EIO') this.log.warn({ err: error, operation }, 'the operation failed')
    return errnoNumber(name)
  }
}
