// A save begins: what it may replace is decided now, by what its program and others here have seen (`Seen`), and not by what is
// shown when it ends. A delete goes by what was shown.

import { fingerprintOf, fuller, isSameVersion, unseen } from '../../content/fingerprint.ts'
import { pathIn, type Node } from './node.ts'
import type { Looker, Seen } from './seen.ts'

/**
 * How content changes:
 * - `anew`: nothing of what was there is left.
 * - `in place`: some of it is.
 * - `appended`: all of it is.
 * - `longer`: so it is until something is written: nothing is decided by that.
 */
export type Change = 'anew' | 'in place' | 'appended' | 'longer'

/** The content of a document changes, for the first time since it was saved. */
export function beginSave(seen: Seen, node: Node, change: Change, looker: Looker): void {
  const { unsent, stored } = node
  if (unsent.isDecided || stored.record === undefined || stored.elsewhere !== undefined) return
  if (change === 'longer' || unsent.job !== undefined || node.isLocalOnly || node.isUnlinked) return
  const { path } = node
  const fingerprint = fingerprintOf(stored.record)
  // An appended save goes on from the version as if it had read it: the bytes are brought here for it.
  if (change === 'appended') return seen.read(path, fingerprint, looker)
  const known = seen.replaceable(path, looker, fingerprint)
  seen.saves(path, looker)
  if (change === 'in place' && known === undefined) seen.read(path, fingerprint, looker)
  else unsent.decide(orUnseen(known, fingerprint))
}

/** A new document comes to a name where one was deleted or moved away. */
export function beginSaveOver(seen: Seen, node: Node, hidden: string | undefined, looker: Looker): void {
  node.unsent.mayReplace(hidden === undefined ? undefined : overHidden(seen, node.path, hidden, looker))
}

/** A document is renamed to this name: the version it may replace there, shown or `hidden`; undefined where nothing is. */
export function replacedByRename(
  seen: Seen,
  { to, name, target }: { readonly to: Node; readonly name: string; readonly target: Node | undefined },
  hidden: string | undefined,
  looker: Looker,
): string | undefined {
  const path = pathIn(to, name)
  if (target === undefined) return hidden === undefined ? undefined : overHidden(seen, path, hidden, looker)
  const { unsent, stored, shown } = target
  // A save of the target that is under way began before the rename, and decided then.
  if (shown === undefined || unsent.isDecided) return unsent.base ?? stored.fingerprint
  const known = seen.replaceable(path, looker, shown)
  seen.saves(path, looker)
  return orUnseen(known, shown)
}

/** The version that a delete of this document takes away. */
export function takenAway(
  seen: Seen,
  { path, shown, unsent, stored }: Node,
  looker: Looker,
): string | undefined {
  if (shown === undefined) return unsent.base ?? stored.fingerprint
  return sameOr(seen.lastShown(path, looker, shown) ?? shown, shown)
}

/**
 * The version that may be replaced where one was deleted or moved away: the program that did so was shown it, if no
 * other was.
 */
function overHidden(seen: Seen, path: string, hidden: string, looker: Looker): string {
  const known = seen.replaceable(path, looker, hidden) ?? hidden
  seen.saves(path, looker)
  return sameOr(known, hidden)
}

function orUnseen(known: string | undefined, standing: string): string {
  return known === undefined ? unseen : sameOr(known, standing)
}

/** One record may tell more of the same version than the other. */
function sameOr(known: string, standing: string): string {
  return isSameVersion(known, standing) ? fuller(standing, known) : known
}
