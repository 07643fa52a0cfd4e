// Whose is what stands at a path in the service: this very content, a version that may be replaced, a copy our own attempt left
// behind, or a version that nobody here has seen.

import type { Files, RemoteFile } from '../../api/types.ts'
import {
  areSameDocuments,
  digestOf,
  digestOfStored,
  firstBytes,
  isSameDigest,
  type Digest,
} from '../digest.ts'
import { fingerprintOf, mayBe } from '../fingerprint.ts'
import { isDoubtful, type Intention } from '../intention.ts'
import { lookUp } from '../remote-lookup.ts'
import type { Spool } from '../spool/spool.ts'
import { contentOf, hasContent } from './carried.ts'

export interface OwnershipOptions {
  readonly files: Files
  readonly spool: Spool
}

/**
 * Content of an upload that was sent in full, and found its name taken (409): bytes of this digest, or a `copy` of
 * the source. A balancer or gateway that repeats a request gets this answer for what the first one has stored.
 */
export type NameTakenBy = Digest | 'copy'

export class Ownership {
  readonly #options: OwnershipOptions

  constructor(options: OwnershipOptions) {
    this.#options = options
  }

  /** Judges the version that stands there: this very content, one that may be replaced, or one that nobody here has seen. */
  async classifyRemote(
    intention: Intention,
    standing: RemoteFile,
    signal: AbortSignal,
    taken?: NameTakenBy,
  ): Promise<'done' | 'replaceable' | 'theirs'> {
    if (fingerprintOf(standing) === intention.base) return 'replaceable'
    if (taken === 'copy' && (await this.#isLikeSource(intention, standing, signal))) return 'done'
    const sent = taken === 'copy' ? undefined : taken
    const { files, spool } = this.#options
    const content = hasContent(spool, intention) ? contentOf(spool, intention, intention.spool) : undefined
    const size = intention.digest?.size ?? content?.size
    const mayBe = (other: number): boolean => standing.size === undefined || standing.size === other
    // A version with these very bytes, whichever client stored it, needs no copy beside ours.
    const mayBeThis = size !== undefined && mayBe(size)
    const mayBePart = size !== undefined && isDoubtful(intention) && (standing.size ?? 0) < size
    const mayBeSent = sent !== undefined && mayBe(sent.size)
    if (!mayBeThis && !mayBePart && !mayBeSent && !intention.sentDigests.some(({ size }) => mayBe(size)))
      return 'theirs'
    const found = await digestOfStored(files, intention.path, standing, signal)
    if (sent !== undefined && isSameDigest(found, sent)) return 'done'
    const wanted = intention.digest ?? (content === undefined ? undefined : await digestOf(content.stream()))
    if (mayBeThis && wanted !== undefined && isSameDigest(found, wanted)) return 'done'
    if (intention.sentDigests.some((sent) => isSameDigest(found, sent))) return 'replaceable'
    // Less was stored than was sent, and nobody lived to tell.
    if (!mayBePart || content === undefined) return 'theirs'
    const part = await digestOf(firstBytes(content.stream(), found.size))
    return isSameDigest(found, part) ? 'replaceable' : 'theirs'
  }

  /**
   * A copy within the service whose answer was lost, or that was seen through and forgotten in a power cut: it stands there. Where
   * the source is gone, or another client's version by now, nothing is left to compare it with but its length; to call it done
   * destroys nothing, and to make it anew from what is at the source would be to move another document.
   */
  async isCopied(intention: Intention, standing: RemoteFile, signal: AbortSignal): Promise<boolean> {
    const { path, source, sourceFingerprint, spool, size } = intention
    if (!isDoubtful(intention) || source === undefined || spool !== undefined || size === undefined)
      return false
    if (standing.size !== size) return false
    const { files } = this.#options
    const original = await lookUp(files, source, { signal })
    if (original?.kind !== 'file') return true
    if (fingerprintOf(standing) === intention.base) return false
    if (sourceFingerprint !== undefined && !mayBe(original, sourceFingerprint)) return true
    return areSameDocuments(files, { path: source, file: original }, { path, file: standing }, signal)
  }

  /** A move cut off before it was proven left its own copy behind: that is no version of anybody else. */
  async isCopyOfSource(intention: Intention, standing: RemoteFile, signal: AbortSignal): Promise<boolean> {
    if (!intention.isOutcomeUnknown || intention.spool !== undefined) return false
    return this.#isLikeSource(intention, standing, signal)
  }

  async #isLikeSource(
    { path, source }: Intention,
    standing: RemoteFile,
    signal: AbortSignal,
  ): Promise<boolean> {
    if (source === undefined) return false
    const { files } = this.#options
    const original = await lookUp(files, source, { signal })
    if (original?.kind !== 'file') return false
    return areSameDocuments(files, { path: source, file: original }, { path, file: standing }, signal)
  }

  /** True for content that an earlier attempt sent there without an answer. */
  async wasSent(
    { sentDigests }: Intention,
    path: string,
    standing: RemoteFile,
    signal: AbortSignal,
  ): Promise<boolean> {
    if (!sentDigests.some(({ size }) => standing.size === undefined || standing.size === size)) return false
    const found = await digestOfStored(this.#options.files, path, standing, signal)
    return sentDigests.some((sent) => isSameDigest(found, sent))
  }

  /** The very bytes that were moved: whoever stored them there, nothing is lost with them. */
  async isAtTarget(
    intention: Intention,
    source: string,
    standing: RemoteFile,
    signal: AbortSignal,
  ): Promise<boolean> {
    const moved = await lookUp(this.#options.files, intention.path, { signal })
    if (moved?.kind !== 'file') return false
    const one = { path: source, file: standing }
    return areSameDocuments(this.#options.files, one, { path: intention.path, file: moved }, signal)
  }
}
