// The names a folder shows, computed from its listing, from what is known of its paths beyond that, and from what is placed in it
// here. Pure: reads no clock, asks nobody.

import type { RemoteFile, RemoteFolder } from '../api/types.ts'
import { isNewer } from '../content/fingerprint.ts'

export type Told = RemoteFile | RemoteFolder

/** A listing as the service gave it: immutable. */
export interface Listed {
  readonly names: { get(name: string): Told | undefined; keys(): Iterable<string> }
  /** When it was asked for (ms). */
  readonly requestedAt: number
}

/** A path of the service, as far as more is known of it than its folder's listing says. */
export interface SyncedPath {
  /** Since then the service has what is wanted here (ms), or said itself what it has; undefined: not yet. */
  readonly agreedAt: number | undefined
  /** A listing that was asked for from then on (ms) has caught up with that. */
  readonly until: number
  /** The newest version known here. Undefined where none is, and for a folder. */
  readonly highest: string | undefined
}

/** A document or folder placed at a name here, whatever a listing says. `T`: what is shown of it. */
export interface Placed<T> {
  readonly shows: T
  /** The service has it here, as far as known: a listing that is believed again decides. */
  readonly isAtOwnPath: boolean
}

export interface View<T> {
  readonly listing: Listed | undefined
  readonly placed: ReadonlyMap<string, Placed<T>>
  readonly synced: (name: string) => SyncedPath | undefined
}

/** True where a listing that was asked for at this time, and has this record at the path, may speak of it. */
export function isBelieved(
  requestedAt: number,
  record: Told | undefined,
  synced: SyncedPath | undefined,
): boolean {
  if (synced === undefined) return true
  const { agreedAt, until, highest } = synced
  if (agreedAt === undefined) return false
  if (requestedAt >= until) return true
  // A version that another client stored after us is no lag.
  return (
    requestedAt > agreedAt && record?.kind === 'file' && highest !== undefined && isNewer(record, highest)
  )
}

/** Each name of the folder, with what is placed there or else the listing's record. */
export function shown<T>(view: View<T>): Map<string, T | Told> {
  const { listing, placed } = view
  const names = new Map<string, T | Told>()
  for (const name of new Set([...(listing?.names.keys() ?? []), ...placed.keys()])) {
    const what = shownAt(view, name)
    if (what !== undefined) names.set(name, what)
  }
  return names
}

/** One name of it; undefined where nothing shows. */
function shownAt<T>(view: View<T>, name: string): T | Told | undefined {
  return ruleAt(view, name) === 'listed' ? view.listing?.names.get(name) : view.placed.get(name)?.shows
}

/**
 * - `here`: what is placed there shows, since the service has not got it as it is.
 * - `unlisted`: no listing is known; what is placed there shows.
 * - `open`: the path changed here, and the service has not agreed yet; what is placed there shows.
 * - `lagging`: the service agreed, and the listing may lag behind that; what is placed there shows.
 * - `listed`: the listing's record shows.
 */
export type Rule = 'here' | 'unlisted' | 'open' | 'lagging' | 'listed'

/** The rule that decides what a name shows. */
export function ruleAt<T>({ listing, placed, synced }: View<T>, name: string): Rule {
  if (placed.get(name)?.isAtOwnPath === false) return 'here'
  if (listing === undefined) return 'unlisted'
  const row = synced(name)
  if (isBelieved(listing.requestedAt, listing.names.get(name), row)) return 'listed'
  return row?.agreedAt === undefined ? 'open' : 'lagging'
}
