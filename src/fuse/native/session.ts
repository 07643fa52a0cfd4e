// State of one mount of the binding: names, open files, calls being served. Ends with the mount.

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
import { ToldSizes } from './told-sizes.ts'

/** 0 and values, or a negative errno alone. */
export type Reply<Values extends unknown[] = []> = (
  ...answer: [errno: number, ...Values] | [errno: number]
) => void

/** The kernel counts from when an answer reached it, in steps of up to 10 ms. */
const marginMs = 50

/** References on nodes held for the paths used last. */
const rememberedNames = 10_000

export class NativeSession {
  readonly operations: Operations
  readonly log: Log
  readonly names: NameCache
  readonly paths: Paths
  readonly hidden: HiddenFiles = new HiddenFiles()
  readonly toldSizes: ToldSizes = new ToldSizes()
  /** The node of each open file, by handle: its path may have changed since. */
  readonly nodesByHandle: Map<number, number> = new Map<number, number>()
  readonly #requests = new Set<NativeRequest>()
  /** When the kernel was last told anything that it may keep. */
  #toldAtMs = -Infinity

  constructor(operations: Operations, log: Log) {
    this.operations = operations
    this.names = new NameCache(operations, { capacity: rememberedNames, maximumTtlMs: kernelTtlMs })
    this.paths = new Paths(operations, this.names)
    this.log = log
  }

  /** Notifications do not reach the kernel, but the paths we remember follow. */
  get notifier(): Notifier {
    return {
      attributesChanged() {},
      contentChanged() {},
      entryChanged: (parent, name) => this.names.drop(parent, name),
      // Few are remembered as it is.
      async letGo() {},
      // It asks again when what it keeps is too old; a mount that nobody used a moment ago keeps nothing.
      heard: async () => {
        const leftMs = this.#toldAtMs + kernelTtlMs + marginMs - performance.now()
        if (leftMs > 0) await sleep(leftMs)
      },
    }
  }

  /** Serves one call: what `work` answers, or a negative errno, goes to `reply`, once. Never throws. */
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
        this.#toldAtMs = performance.now()
        this.#requests.delete(request)
        request.end()
      })
      .catch((error: unknown) => this.log.error({ err: error, operation }, 'a call did not end well'))
  }

  opened(ino: number, { fh }: Opened): number {
    this.nodesByHandle.set(fh, ino)
    return fh
  }

  async release(fh: number): Promise<void> {
    this.nodesByHandle.delete(fh)
    await this.operations.release(fh)
  }

  /** The kernel has let go: no more calls come, not even the ones that would close what is open. */
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
