// Ownership of the document that stands at a path in the service: this very content, a version that may be replaced, a copy
// that our own attempt left behind, or another client's version, never seen here.

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
 * Content of an upload that was sent in full and answered with 409 (name taken): bytes of this digest, or a `copy` of the
 * source. It may be stored all the same: a gateway that repeats a request gets this answer once the first one succeeded.
 */
export type NameTakenBy = Digest | 'copy'

export class Ownership {
  readonly #options: OwnershipOptions

  constructor(options: OwnershipOptions) {
    this.#options = options
  }

  /** Classifies the version that stands there: the intention's own content, one that may be replaced, or another client's. */
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
    const fits = (other: number): boolean => standing.size === undefined || standing.size === other
    // A version with these very bytes, whichever client stored it, needs no copy beside ours.
    const mayBeThis = size !== undefined && fits(size)
    const mayBePart = size !== undefined && isDoubtful(intention) && (standing.size ?? 0) < size
    const mayBeSent = sent !== undefined && fits(sent.size)
    if (!mayBeThis && !mayBePart && !mayBeSent && !intention.sentDigests.some(({ size }) => fits(size)))
      return 'theirs'
    const found = await digestOfStored(files, intention.path, standing, signal)
    if (sent !== undefined && isSameDigest(found, sent)) return 'done'
    const wanted = intention.digest ?? (content === undefined ? undefined : await digestOf(content.stream()))
    if (mayBeThis && wanted !== undefined && isSameDigest(found, wanted)) return 'done'
    if (intention.sentDigests.some((sent) => isSameDigest(found, sent))) return 'replaceable'
    // An attempt that was cut off may have stored only the first part of the content.
    if (!mayBePart || content === undefined) return 'theirs'
    const part = await digestOf(firstBytes(content.stream(), found.size))
    return isSameDigest(found, part) ? 'replaceable' : 'theirs'
  }

  /**
   * True where a copy within the service was made, but its answer or its journal row was lost. Where the source is gone, or is
   * another client's version by now, only the length can be compared. Taking the copy as done then destroys nothing, while
   * repeating it would move another document.
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

  /** True where the document is the copy of a move that was cut off before it was proven: no other client's version. */
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

  /** True where the document has content that an earlier attempt sent without getting an answer. */
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

  /** True where the document at the source has the same bytes as the one at the target, so that it may be deleted. */
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
