// Recognises a program that walks the names of a folder in order, and predicts the names that come next. Pure functions.

import type { Listing } from '../tree/listings.ts'

/** Names of one kind in the two orders programs walk in: as listed (find, cp -r), and sorted (ls -R, shells). */
interface Orders {
  readonly listed: readonly string[]
  readonly sorted: readonly string[]
  /** Position of each name in `listed`; in `sorted`. */
  readonly listedAt: ReadonlyMap<string, number>
  readonly sortedAt: ReadonlyMap<string, number>
}

const ordersByListing = new WeakMap<Listing, Map<'file' | 'folder', Orders>>()

/** Returns at most `count` names that follow `current`; none unless `current` follows `previous` in one of the orders. */
export function successors(
  listing: Listing,
  kind: 'file' | 'folder',
  { previous, current, count }: { previous: string | undefined; current: string; count: number },
): readonly string[] {
  if (previous === undefined || previous === current) return []
  const { listed, sorted, listedAt, sortedAt } = orders(listing, kind)
  for (const [names, positions] of [
    [listed, listedAt],
    [sorted, sortedAt],
  ] as const) {
    const at = positions.get(current)
    if (at !== undefined && at > 0 && names[at - 1] === previous) return names.slice(at + 1, at + 1 + count)
  }
  return []
}

function orders(listing: Listing, kind: 'file' | 'folder'): Orders {
  let byKind = ordersByListing.get(listing)
  if (byKind === undefined) ordersByListing.set(listing, (byKind = new Map()))
  let known = byKind.get(kind)
  if (known === undefined) byKind.set(kind, (known = ordersIn(listing, kind)))
  return known
}

function ordersIn(listing: Listing, kind: 'file' | 'folder'): Orders {
  const listed = [...listing.names.namesOf(kind)]
  const sorted = listed.toSorted()
  return { listed, sorted, listedAt: positions(listed), sortedAt: positions(sorted) }
}

function positions(names: readonly string[]): Map<string, number> {
  return new Map(names.map((name, at) => [name, at]))
}
