// Documents whose listing does not tell their size (interface: `size` and `url` may both be absent): the document itself is
// asked before anybody is told a size.

import type { Files, FolderListing, RemoteFile } from '../../api/types.ts'
import { abortAfter, type Clock } from '../../world/clock.ts'
import { abortable } from '../../abortable.ts'
import { waitForJob } from '../../content/commit/job.ts'
import { agrees } from '../../content/fingerprint.ts'
import { mayMeanMissing } from '../../content/remote-lookup.ts'
import type { Reach } from '../../content/reach/reach.ts'
import { ErrnoError } from '../../errno-error.ts'
import type { Node } from '../tree/node.ts'
import type { RemoteContent } from '../tree/remote-content.ts'
import type { Tree } from '../tree/tree.ts'
import type { Caller, MaybePromise } from '../operations.ts'

/** No operation but a waiting close may block longer than 15 s. */
const deadlineMs = 14_000

export interface SizesOptions {
  readonly tree: Tree
  readonly files: Files
  readonly reach: Reach
  readonly remote: RemoteContent
  readonly clock: Clock
  /** One cache lifetime. */
  readonly ttlMs: number
}

export class Sizes {
  readonly #options: SizesOptions
  readonly #asking = new WeakMap<Node, Promise<void>>()

  constructor(options: SizesOptions) {
    this.#options = options
  }

  /** Applies `use` when the node's size is known, at once where it is; or when the service was asked and does not tell it. */
  whenKnown<T>(node: Node, caller: Caller, use: () => MaybePromise<T>): MaybePromise<T> {
    if (!this.#isToBeAsked(node)) return use()
    let answer = this.#asking.get(node)
    if (answer === undefined) {
      answer = this.#ask(node).finally(() => this.#asking.delete(node))
      this.#asking.set(node, answer)
    }
    return abortable(answer, caller.signal).then(use)
  }

  /**
   * True where a listing told the time of a version, and no size, and nobody has asked since: who replaces it, or takes it away,
   * asks first. The record that is found there when that is sent would be another one, and no version that was seen.
   */
  isSizeUnknown({ remote, stored, job }: Node): boolean {
    if (remote?.modifiedAt === undefined || remote.size !== undefined || job !== undefined) return false
    if (stored.lookedUpAt !== undefined) return false
    return !this.#options.reach.isAway
  }

  /** Asks for all of it, once. Where that cannot be told now, or is another version by now, it stays what it was listed as. */
  async loadRecord(node: Node, { signal }: Caller): Promise<void> {
    const { clock, files, tree } = this.#options
    const { storedPath: path } = node
    if (path === undefined) return
    const askedAt = clock.steady()
    const found = await files.get(path, { deadlineMs, signal }).catch(() => undefined)
    signal.throwIfAborted()
    const { remote, job } = node
    if (remote === undefined || job !== undefined || node.storedPath !== path || node.content !== undefined)
      return
    if (found?.kind === 'file' && agrees(remote, found)) tree.completed(node, found, askedAt)
  }

  /**
   * Learns the size of a document whose listing and record do not tell it: its content is asked. Throws EIO where that
   * does not tell it, either.
   */
  async learn(node: Node, caller: Caller): Promise<void> {
    const { tree, remote } = this.#options
    const size = await remote.learnSize(node, caller.signal)
    if (size === undefined) return
    node.stored.learn(size)
    tree.notifier.attributesChanged(node.ino)
  }

  /** True where the service's listing tells no size, and the document was not asked within one cache lifetime. */
  #isToBeAsked(node: Node): boolean {
    if (node.remote === undefined || node.content !== undefined) return false
    const { clock, reach, ttlMs } = this.#options
    const { lookedUpAt: askedWholeAt } = node.stored
    // A document that our own rename is to take elsewhere has a size, and is not looked at again.
    const isLeft = askedWholeAt === undefined || reach.isAway || node.job !== undefined
    if (node.size !== undefined && isLeft) return false
    return askedWholeAt === undefined || clock.steady() - askedWholeAt > ttlMs
  }

  async #ask(node: Node, untilMs: number = this.#options.clock.monotonic() + deadlineMs): Promise<void> {
    const { clock, files, tree, remote } = this.#options
    const path = node.storedPath
    if (path === undefined) return
    const askedAt = clock.steady()
    const leftMs = Math.max(0, untilMs - clock.monotonic())
    let found: RemoteFile | FolderListing
    try {
      found = await files.get(path, { deadlineMs: leftMs })
    } catch (refusal) {
      if (mayMeanMissing(refusal) && (await this.#hasMoved(node, path, untilMs)))
        return this.#ask(node, untilMs)
      // The name stays for whoever has to deal with it.
      if (mayMeanMissing(refusal) && node.job?.intention.isRefused === true) return
      return this.#refused(node, refusal, askedAt)
    }
    // Of what came to its old place since nothing is known by that.
    if (node.storedPath !== path && this.#isToBeAsked(node)) return this.#ask(node, untilMs)
    if (found.kind !== 'file' || node.storedPath !== path || node.content !== undefined) return
    tree.completed(node, found, askedAt)
    const { version } = node
    if (version === undefined || (version.size !== undefined && found.modifiedAt !== undefined)) return
    if (found.size !== undefined) return
    const size = await remote.learnSize(node, abortAfter(clock, deadlineMs)).catch((error: unknown) => {
      // The service was asked, and does not tell: whoever reads it is told so.
      if (error instanceof ErrnoError && error.code === 'EIO') return undefined
      throw error
    })
    node.stored.learn(size)
  }

  /** True if our own rename has taken it from there; waits for one that is under way. */
  async #hasMoved(node: Node, path: string, untilMs: number): Promise<boolean> {
    const { clock } = this.#options
    const timeoutMs = Math.max(0, untilMs - clock.monotonic())
    // One that is refused leaves it there.
    if (node.job !== undefined) await waitForJob(clock, node.job, { timeoutMs }).catch(() => {})
    return node.storedPath !== path
  }

  /**
   * A document that seems to be gone is so if its folder says the same, which then shows it no more, also when the
   * service is away.
   */
  async #refused(node: Node, refusal: unknown, askedAt: number): Promise<never> {
    const { parent, path, job } = node
    if (mayMeanMissing(refusal) && job !== undefined)
      throw new ErrnoError('ETIMEDOUT', `${path} is still being moved in the service`, { cause: refusal })
    if (!mayMeanMissing(refusal) || parent === undefined || node.storedPath !== path) throw refusal
    const { requestedAt } = await this.#options.tree.listedAfter(parent, askedAt)
    if (node.isUnlinked)
      throw new ErrnoError('ENOENT', `${path} is gone from the service`, { cause: refusal })
    if (requestedAt > askedAt) throw refusal
    throw new ErrnoError('ETIMEDOUT', `${path}: the service is away, and may have it no more`, {
      cause: refusal,
    })
  }
}
