// An intention: one change the service has not got yet, journaled before anybody is told it is safe. It states what is
// wanted, not which calls are left, so that running it again after a crash at any step ends in the same place.

import { withDigest, type Digest } from './digest.ts'
import { unseen } from './fingerprint.ts'
import { isAtOrUnder } from '../path.ts'

/**
 * - `put`: `path` holds the spooled content, or the content the service has at `source`.
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
  /** Of the spooled content as it was journaled: what is sent must be this. */
  readonly digest?: Digest | undefined
  /** Where the service has this document now: its content for a move, and what is deleted once `path` is proven. */
  readonly source?: string | undefined
  readonly sourceFingerprint?: string | undefined
  /** A copy: `source` stays. */
  readonly keepSource?: boolean
  /** Fingerprint of the version at `path` that this mount has seen, and may therefore replace. */
  readonly base?: string | undefined
  /** An earlier attempt may have been stored: what is found at `path` may be our own. */
  readonly isOutcomeUnknown?: boolean
  /**
   * Content that earlier attempts sent in full without an answer: found at `path`, or at the `source` of a move, it
   * is our own.
   */
  readonly sentDigests?: readonly Digest[]
  /** How long it rests before it is sent (ms): quiet time, or the grace in which a delete may become a replace. */
  readonly deferMs?: number
}

/** Content that an intention carries; empty where nothing of it is left. */
export type CarriedContent = Pick<IntentionDraft, 'spool' | 'size' | 'digest'>

export interface Intention extends IntentionDraft {
  /** Grows with time: the order per path. */
  readonly id: number
  source: string | undefined
  sourceFingerprint: string | undefined
  base: string | undefined
  isOutcomeUnknown: boolean
  sentDigests: readonly Digest[]
  /** The target holds the content; only `source` is left to be deleted. */
  isCopied: boolean
  /** Not before this time (epoch ms), as journaled and shown; within a run the queue measures with a steady clock. */
  notBefore: number
  attempts: number
  /** How long ago this run of the program first tried it (ms). Not journaled. */
  triedForMs: number
  /** How much of the content this attempt has sent, in bytes. Not journaled. */
  sentBytes: number
  lastError: string | undefined
  /** The name of the errno that callers are told of a refusal. */
  errorErrno: string | undefined
  /** The service refused for good (4xx): waits for the user. */
  isRefused: boolean
  readonly since: number
  /** It takes the place of an earlier one, which a power cut may bring back. Not journaled. */
  replacesUndurableRow?: boolean
  /** A move that is done with another client's version, which nobody here had seen: it was at its source, or is at its path. Not journaled. */
  movedForeignVersion?: boolean
}

/** A journaled intention from a draft; `now` in epoch ms. */
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

/** True where nothing of what stands at this path is left there once the intention is done; one that was refused never is. */
export function empties({ kind, path, source, keepSource, isRefused }: Intention, at: string): boolean {
  if (isRefused) return false
  return kind === 'put' ? source === at && path !== at && keepSource !== true : path === at
}

/** True where the intention changes something at or under `folder`. */
export function concerns(intention: IntentionDraft, folder: string): boolean {
  return pathsOf(intention).some((path) => isAtOrUnder(path, folder))
}

/** True where both may be merged: a move must be seen through, or what is put at its source later would be moved instead. */
export function isMergeable(intention: IntentionDraft): boolean {
  return intention.kind !== 'prune' && (intention.source === undefined || intention.source === intention.path)
}

/**
 * The intention that takes the place of an idle one when a newer one for the same path arrives; undefined where
 * nothing is left to do. `isExpected`: something is on its way to this path before the older one.
 */
export function merge(
  older: Intention,
  newer: IntentionDraft,
  isExpected: boolean,
): IntentionDraft | undefined {
  const mayExist = isExpected || older.kind !== 'put' || older.base !== undefined || isDoubtful(older)
  if (newer.kind === 'delete' && !mayExist) return undefined
  // A delete that knew neither a version nor a content would take whatever stands there by now.
  const isAllThatMayStand =
    newer.kind === 'delete' && older.isOutcomeUnknown && older.sentDigests.length === 0
  const doubts = isAllThatMayStand && older.digest !== undefined ? [older.digest] : older.sentDigests
  // A refused move stored nothing of a known content: a document that stands there by now is another client's.
  const noneSeen = isAllThatMayStand && doubts.length === 0 && older.isRefused ? unseen : undefined
  const isSaveOverDelete = older.kind === 'delete' && newer.kind === 'put'
  return {
    ...newer,
    // The older one's base is the fresher: the queue moves it on with every step taken. A delete goes by what was shown, a save by
    // what was read.
    base: isSaveOverDelete ? (newer.base ?? older.base) : (older.base ?? newer.base ?? noneSeen),
    isOutcomeUnknown: older.isOutcomeUnknown || newer.isOutcomeUnknown === true,
    sentDigests: (newer.sentDigests ?? []).reduce(withDigest, doubts),
  }
}

/**
 * The intentions that take the place of one that cannot go on (refused, or cut off) when the next one for its path
 * stands right behind it: nothing of the older one's may be left where nobody looks for it. The first goes where the
 * older one stood. Undefined where both must be seen through.
 */
export function succession(older: Intention, newer: IntentionDraft): readonly IntentionDraft[] | undefined {
  if (older.kind === 'prune' || newer.kind === 'prune') return undefined
  if (newer.path === older.path) {
    const merged = merge(older, newer, false)
    const left = older.keepSource === true ? undefined : leftBehind(older)
    if (left === undefined) return merged === undefined ? [] : [merged]
    if (merged?.kind !== 'put' || merged.source !== undefined)
      return merged === undefined ? [left] : [merged, left]
    // The newer content moves there in its place.
    return [{ ...merged, source: older.source, sourceFingerprint: older.sourceFingerprint }]
  }
  if (newer.source !== older.path) return undefined
  // Shown again after its delete was refused, and used: it is wanted.
  if (older.kind === 'delete') return [newer]
  if (newer.keepSource === true) return undefined
  return movedOn(older, newer)
}

/** The delete of a document that was to be moved away, and now never will be: it goes all the same. */
function leftBehind(older: Intention): IntentionDraft | undefined {
  const { path, source, sourceFingerprint } = older
  if (source === undefined || source === path) return undefined
  return {
    kind: 'delete',
    path: source,
    base: sourceFingerprint,
    isOutcomeUnknown: isOld(older),
    sentDigests: older.sentDigests,
  }
}

/** Tried before: another client may have stored something since, so that a delete in its place looks first. */
function isOld({ attempts, isOutcomeUnknown }: Intention): boolean {
  return attempts > 0 || isOutcomeUnknown
}

/** A document that never came to its path is moved on from there: it goes straight to where it is wanted now. */
function movedOn(older: Intention, newer: IntentionDraft): readonly IntentionDraft[] {
  // The version at its path stays there where nothing ever comes in its place.
  const replaced = !isVain(older) && (older.base !== undefined || isDoubtful(older))
  // A content may have no digest: never another one’s.
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
            isOutcomeUnknown: isOld(older),
            sentDigests: older.sentDigests,
          },
        ]
      : []
  if (isFromElsewhere && older.source === newer.path) {
    // Back to where it came from: there it still is.
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

/** True for a change of a document of which nothing is here, nor anywhere in the service as far as known. */
export function carriesNothing({ kind, spool, source, isCopied }: Intention): boolean {
  return kind === 'put' && spool === undefined && source === undefined && !isCopied
}

/** A move of what is gone: nothing of it is here, and nothing in the service. */
function isVain({ isRefused, spool, path, source = path, errorErrno }: Intention): boolean {
  return isRefused && spool === undefined && (source === path || errorErrno === 'ENOENT')
}

/** True when an earlier attempt may have stored something. */
export function isDoubtful(intention: Pick<Intention, 'isOutcomeUnknown' | 'sentDigests'>): boolean {
  return intention.isOutcomeUnknown || intention.sentDigests.length > 0
}
