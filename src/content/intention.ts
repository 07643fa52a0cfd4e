// An intention: one change that the service does not have yet, journaled before a program is told that it is saved. It states
// the wanted result, not the calls left to do, so that running it again after a crash at any step ends in the same place.

import { withDigest, type Digest } from './digest.ts'
import { unseen } from './fingerprint.ts'
import { isAtOrUnder } from '../path.ts'

/**
 * - `put`: `path` holds the spooled content, or the content the service has at `source`. With both it is a move of a document that
 *   was changed here: the spooled content goes to `path`, and the older version goes from `source`.
 * - `delete`: nothing is at `path`.
 * - `prune`: the folder at `path` is gone, if nothing but empty folders is left in it.
 */
export type IntentionKind = 'put' | 'delete' | 'prune'

/** An intention as a caller asks for it. */
export interface IntentionDraft {
  readonly kind: IntentionKind
  readonly path: string
  /** Id of the spool file with the content; absent where the content is at `source` in the service. */
  readonly spool?: string | undefined
  /** Bytes of the content, as far as known. */
  readonly size?: number | undefined
  /** Digest of the spooled content as journaled: no other bytes may be sent. */
  readonly digest?: Digest | undefined
  /**
   * Path of a move's document in the service now: copied from there, and deleted there once it is proven to be at `path`. A put
   * whose `source` is its own `path` is no move. Saves make none (`submit.ts`); the queue takes it as a put without `source`.
   */
  readonly source?: string | undefined
  readonly sourceFingerprint?: string | undefined
  /** A copy: `source` stays. */
  readonly keepSource?: boolean
  /** Fingerprint of the version at `path` that was seen here, and may therefore be replaced. */
  readonly base?: string | undefined
  /**
   * An earlier attempt may have stored something: the document found at `path` may be our own. A delete in the place of a change
   * that was tried has it, too (`wasTried`): it looks first, and no delete of its folder may replace it.
   */
  readonly isOutcomeUnknown?: boolean
  /**
   * Digests of content that earlier attempts sent in full without an answer: a document with one of them, at `path` or at
   * the `source` of a move, is our own.
   */
  readonly sentDigests?: readonly Digest[]
  /** Delay before the first attempt (ms): quiet time, or the grace in which a delete may become a replace. */
  readonly deferMs?: number
}

/** Content that an intention carries; without fields where there is none. */
export type CarriedContent = Pick<IntentionDraft, 'spool' | 'size' | 'digest'>

export interface Intention extends IntentionDraft {
  /** Increases with time, and gives the order per path. */
  readonly id: number
  source: string | undefined
  sourceFingerprint: string | undefined
  base: string | undefined
  isOutcomeUnknown: boolean
  sentDigests: readonly Digest[]
  /** True once the content is at `path`, and only `source` is left to be deleted. */
  isCopied: boolean
  /** Earliest time of the next attempt (epoch ms), journaled and shown; within a run the queue goes by `Job.dueAt`. */
  notBefore: number
  attempts: number
  /** Time since this run of the program first tried it (ms). Not journaled. */
  triedForMs: number
  /** Bytes of the content that this attempt has sent. Not journaled. */
  sentBytes: number
  lastError: string | undefined
  /** Name of the errno that callers get for a refusal. */
  errorErrno: string | undefined
  /** The service refused it for good (4xx): it waits for the user. */
  isRefused: boolean
  readonly since: number
  /** It replaces an earlier intention, whose row a power cut may bring back. Not journaled. */
  replacesUndurableRow?: boolean
  /** The move was done with another client's version, never seen here, which was at its source or is at its path. Not journaled. */
  movedForeignVersion?: boolean
}

/** Makes an intention from a draft; `now` in epoch ms. */
export function intend(id: number, draft: IntentionDraft, now: number): Intention {
  return {
    ...draft,
    id,
    source: draft.source,
    sourceFingerprint: draft.sourceFingerprint,
    base: draft.base,
    isOutcomeUnknown: draft.isOutcomeUnknown ?? false,
    sentDigests: draft.sentDigests ?? [],
    isCopied: false,
    notBefore: now + (draft.deferMs ?? 0),
    attempts: 0,
    triedForMs: 0,
    sentBytes: 0,
    lastError: undefined,
    errorErrno: undefined,
    isRefused: false,
    since: now,
  }
}

/** The paths whose order matters to this intention. */
export function pathsOf(intention: IntentionDraft): readonly string[] {
  return intention.source === undefined || intention.source === intention.path
    ? [intention.path]
    : [intention.path, intention.source]
}

/** True where the intention, once done, leaves no document at this path. False for a refused one, which is never done. */
export function empties({ kind, path, source, keepSource, isRefused }: Intention, at: string): boolean {
  if (isRefused) return false
  return kind === 'put' ? source === at && path !== at && keepSource !== true : path === at
}

/** True where the intention changes something at or under `folder`. */
export function concerns(intention: IntentionDraft, folder: string): boolean {
  return pathsOf(intention).some((path) => isAtOrUnder(path, folder))
}

/** True where it may be merged with another for its path. A move must be carried out: it would move a later put at its source. */
export function isMergeable(intention: IntentionDraft): boolean {
  return intention.kind !== 'prune' && (intention.source === undefined || intention.source === intention.path)
}

/**
 * Returns the intention that replaces an idle one when a newer one for the same path arrives; undefined where nothing
 * is left to do. `isExpected`: an intention before the older one puts a document at this path.
 */
export function merge(
  older: Intention,
  newer: IntentionDraft,
  isExpected: boolean,
): IntentionDraft | undefined {
  const mayExist = isExpected || older.kind !== 'put' || older.base !== undefined || isDoubtful(older)
  if (newer.kind === 'delete' && !mayExist) return undefined
  // Without a known version or content, the delete would delete any document that is there by now.
  const isBlindDelete = newer.kind === 'delete' && older.isOutcomeUnknown && older.sentDigests.length === 0
  const olderDigests = isBlindDelete && older.digest !== undefined ? [older.digest] : older.sentDigests
  // A refused move stored no known content, so a document that is there by now is another client's.
  const noneSeen = isBlindDelete && olderDigests.length === 0 && older.isRefused ? unseen : undefined
  const isSaveOverDelete = older.kind === 'delete' && newer.kind === 'put'
  return {
    ...newer,
    // The older base is the more recent one, since the queue updates it after each step. But a delete's base is the version
    // that was shown, a save's the one that was read.
    base: isSaveOverDelete ? (newer.base ?? older.base) : (older.base ?? newer.base ?? noneSeen),
    isOutcomeUnknown: older.isOutcomeUnknown || newer.isOutcomeUnknown === true,
    sentDigests: (newer.sentDigests ?? []).reduce(withDigest, olderDigests),
  }
}

/**
 * Returns the intentions that replace one that cannot go on (refused, or cut off) and the next one for its path, right
 * behind it. Together they leave no version behind at a path that nothing else would clean up. The first takes the
 * older one's place in the order. Undefined where both must be carried out.
 */
export function succession(older: Intention, newer: IntentionDraft): readonly IntentionDraft[] | undefined {
  if (older.kind === 'prune' || newer.kind === 'prune') return undefined
  if (newer.path === older.path) {
    const merged = merge(older, newer, false)
    const left = older.keepSource === true ? undefined : deleteOfSource(older)
    if (left === undefined) return merged === undefined ? [] : [merged]
    if (merged?.kind !== 'put' || merged.source !== undefined)
      return merged === undefined ? [left] : [merged, left]
    // The newer content becomes the content of the move.
    return [{ ...merged, source: older.source, sourceFingerprint: older.sourceFingerprint }]
  }
  if (newer.source !== older.path) return undefined
  // Its delete was refused, so the document was shown again, and a program moved it on: it is wanted.
  if (older.kind === 'delete') return [newer]
  if (newer.keepSource === true) return undefined
  return joinMoves(older, newer)
}

/** The delete of the source of a move that is given up: the document goes from there all the same. */
function deleteOfSource(older: Intention): IntentionDraft | undefined {
  const { path, source, sourceFingerprint } = older
  if (source === undefined || source === path) return undefined
  return {
    kind: 'delete',
    path: source,
    base: sourceFingerprint,
    isOutcomeUnknown: wasTried(older),
    sentDigests: older.sentDigests,
  }
}

/** True where it was tried before: another client may have stored something since, so a delete in its place must check first. */
function wasTried({ attempts, isOutcomeUnknown }: Intention): boolean {
  return attempts > 0 || isOutcomeUnknown
}

/** Joins two moves in a row: a document that never arrived at the older one's path goes straight to the newer one's. */
function joinMoves(older: Intention, newer: IntentionDraft): readonly IntentionDraft[] {
  // The version at the older one's path stays there if nothing can ever take its place.
  const replaced = !isContentGone(older) && (older.base !== undefined || isDoubtful(older))
  // Both fields come from the same intention: content without a digest must not get another's.
  const { spool, digest } = newer.spool === undefined ? older : newer
  const { size = older.size } = newer
  const isFromElsewhere = older.source !== undefined && older.source !== older.path
  const left: IntentionDraft[] =
    isFromElsewhere && replaced
      ? [
          {
            kind: 'delete',
            path: older.path,
            base: older.base,
            isOutcomeUnknown: wasTried(older),
            sentDigests: older.sentDigests,
          },
        ]
      : []
  if (isFromElsewhere && older.source === newer.path) {
    // The document is moved back to its source, where it still is.
    const { source: _source, sourceFingerprint: _fingerprint, ...back } = newer
    return spool === undefined
      ? left
      : [{ ...back, spool, size, digest, base: older.sourceFingerprint }, ...left]
  }
  const source = isFromElsewhere ? older.source : replaced ? older.path : undefined
  const put: IntentionDraft = {
    ...newer,
    spool,
    size,
    digest,
    source,
    sourceFingerprint: isFromElsewhere ? older.sourceFingerprint : replaced ? older.base : undefined,
    keepSource: isFromElsewhere && older.keepSource === true,
    sentDigests: (newer.sentDigests ?? []).reduce(withDigest, older.sentDigests),
  }
  return [put, ...left]
}

/** True for a put without content: none in the spool, none at a source, and none copied to its path yet. */
export function carriesNothing({ kind, spool, source, isCopied }: Intention): boolean {
  return kind === 'put' && spool === undefined && source === undefined && !isCopied
}

/** True for a refused put whose content is gone, from the spool and from the service. */
function isContentGone({ isRefused, spool, path, source = path, errorErrno }: Intention): boolean {
  return isRefused && spool === undefined && (source === path || errorErrno === 'ENOENT')
}

/** True where an earlier attempt may have stored something. */
export function isDoubtful(intention: Pick<Intention, 'isOutcomeUnknown' | 'sentDigests'>): boolean {
  return intention.isOutcomeUnknown || intention.sentDigests.length > 0
}
