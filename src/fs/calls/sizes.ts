// Sizes of documents whose listing does not tell them (interface: `size` and `url` may both be absent): the service is asked
// for the document itself before a program gets a size. Callers: `whenKnown` before attributes are shown, `loadRecord` before a
// delete or a rename takes the version away, `learn` at an open, if not even the record told the size.

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

  /** Calls `use` once the node's size is known (at once if it is), or once the service was asked and did not tell it. */
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
   * True if a listing told the time of a version but no size, and the document was not looked up since. `loadRecord` has to do
   * so before the version is replaced or deleted: its fingerprint (size and time) would not be the one found when that is sent.
   */
  isSizeUnknown({ remote, stored, job }: Node): boolean {
    if (remote?.modifiedAt === undefined || remote.size !== undefined || job !== undefined) return false
    if (stored.lookedUpAt !== undefined) return false
    return !this.#options.reach.isAway
  }

  /** Looks up the whole record, once. If that fails, or finds another version, the node stays as it was listed. */
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
   * Learns the size of a document from its content, if neither its listing nor its record tells it. Throws EIO if the content
   * does not tell it, either.
   */
  async learn(node: Node, caller: Caller): Promise<void> {
    const { tree, remote } = this.#options
    const size = await remote.learnSize(node, caller.signal)
    if (size === undefined) return
    node.stored.learn(size)
    tree.notifier.attributesChanged(node.ino)
  }

  /** True if the listing tells no size, and the document was not looked up within one cache lifetime: also to renew that size. */
  #isToBeAsked(node: Node): boolean {
    if (node.remote === undefined || node.content !== undefined) return false
    const { clock, reach, ttlMs } = this.#options
    const { lookedUpAt: lastLookupAt } = node.stored
    // A size stays if the listing told it (no lookup was made), while the service is away, and while our rename moves the document.
    const isSizeFinal = lastLookupAt === undefined || reach.isAway || node.job !== undefined
    if (node.size !== undefined && isSizeFinal) return false
    return lastLookupAt === undefined || clock.steady() - lastLookupAt > ttlMs
  }

  async #ask(node: Node, untilMs: number = this.#options.clock.monotonic() + deadlineMs): Promise<void> {
    const { clock, files, tree, remote } = this.#options
    const path = node.storedPath
    if (path === undefined) return
    const askedAt = clock.steady()
    const leftMs = (): number => Math.max(0, untilMs - clock.monotonic())
    let found: RemoteFile | FolderListing
    try {
      found = await files.get(path, { deadlineMs: leftMs() })
    } catch (refusal) {
      if (mayMeanMissing(refusal) && (await this.#hasMoved(node, path, untilMs)))
        return this.#ask(node, untilMs)
      // The name stays, so that a person can resolve the refused change.
      if (mayMeanMissing(refusal) && node.job?.intention.isRefused === true) return
      return this.#refused(node, refusal, askedAt)
    }
    // It was moved meanwhile: the record is that of another document at its old path.
    if (node.storedPath !== path && this.#isToBeAsked(node)) return this.#ask(node, untilMs)
    if (found.kind !== 'file' || node.storedPath !== path || node.content !== undefined) return
    tree.completed(node, found, askedAt)
    const { version } = node
    if (version === undefined || (version.size !== undefined && found.modifiedAt !== undefined)) return
    if (found.size !== undefined) return
    const size = await remote.learnSize(node, abortAfter(clock, leftMs())).catch((error: unknown) => {
      // The service does not tell the size: a program that reads the document gets this error.
      if (error instanceof ErrnoError && error.code === 'EIO') return undefined
      throw error
    })
    node.stored.learn(size)
  }

  /** True if our own rename has moved the document away from `path`; waits for a rename that is under way. */
  async #hasMoved(node: Node, path: string, untilMs: number): Promise<boolean> {
    const { clock } = this.#options
    const timeoutMs = Math.max(0, untilMs - clock.monotonic())
    // A refused rename leaves it there.
    if (node.job !== undefined) await waitForJob(clock, node.job, { timeoutMs }).catch(() => {})
    return node.storedPath !== path
  }

  /**
   * Throws the error for a failed lookup. A document that seems to be gone is gone if a newer listing of its folder says the
   * same; the folder then shows it no more, also when the service is away.
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
