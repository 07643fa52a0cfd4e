// What a folder shows, computed from what the service said of it, what is known of its paths beyond that, and what is placed in it
// here. Pure: reads no clock, asks nobody.

import type { RemoteFile, RemoteFolder } from '../api/types.ts'
import { isNewer } from '../content/fingerprint.ts'

export type Told = RemoteFile | RemoteFolder

/** What the service said of a folder: nobody changes it. */
export interface Listed {
  readonly names: { get(name: string): Told | undefined; keys(): Iterable<string> }
  /** When it was asked for (ms). */
  readonly requestedAt: number
}

/** What is known of a path of the service beyond what its folder's listing says. */
export interface SyncedPath {
  /** Since then the service has what is wanted here (ms), or said itself what it has; undefined: not yet. */
  readonly agreedAt: number | undefined
  /** A listing that was asked for from then on (ms) has caught up with that. */
  readonly until: number
  /** The newest version known here. Undefined where none is, and for a folder. */
  readonly highest: string | undefined
}

/** What is at a name here, whatever a listing says. `T`: what is shown of it. */
export interface Placed<T> {
  readonly shows: T
  /** The service has it here, as far as known: a listing that is believed again decides. */
  readonly isHome: boolean
}

export interface View<T> {
  readonly listing: Listed | undefined
  readonly placed: ReadonlyMap<string, Placed<T>>
  readonly synced: (name: string) => SyncedPath | undefined
}

/** Whether a listing that was asked for at this time, and has this record at the path, may speak of it. */
export function isBelieved(
  requestedAt: number,
  record: Told | undefined,
  synced: SyncedPath | undefined,
): boolean {
  if (synced === undefined) return true
  const { agreedAt, until, highest } = synced
  if (agreedAt === undefined) return false
  if (requestedAt >= until) return true
  // What somebody stored after us is no lag.
  return (
    requestedAt > agreedAt && record?.kind === 'file' && highest !== undefined && isNewer(record, highest)
  )
}

/** What each name of the folder shows: what is placed there, or the listing's record. */
export function shown<T>(view: View<T>): Map<string, T | Told> {
  const { listing, placed } = view
  const names = new Map<string, T | Told>()
  for (const name of new Set([...(listing?.names.keys() ?? []), ...placed.keys()])) {
    const what = shownAt(view, name)
    if (what !== undefined) names.set(name, what)
  }
  return names
}

/** What one name of it shows; undefined for nothing. */
export function shownAt<T>({ listing, placed, synced }: View<T>, name: string): T | Told | undefined {
  const here = placed.get(name)
  if (here?.isHome === false) return here.shows
  if (listing === undefined) return here?.shows
  const record = listing.names.get(name)
  return isBelieved(listing.requestedAt, record, synced(name)) ? record : here?.shows
}
