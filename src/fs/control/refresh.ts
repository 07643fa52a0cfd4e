// Refresh: the next look at a path shows it as it is now in the service. A listing alone is not believed about what was
// changed here lately, since it may lag behind: where it says otherwise, the document itself is asked, and where both say
// the same, it is so.

import type { Files, RemoteFile } from '../../api/types.ts'
import type { Clock } from '../../world/clock.ts'
import { agrees, fingerprintOf } from '../../content/fingerprint.ts'
import { lookUp } from '../../content/remote-lookup.ts'
import type { Tree } from '../tree/tree.ts'
import type { Listing } from '../tree/listings.ts'
import { isKept } from '../tree/node-table.ts'
import { pathIn, type Node } from '../tree/node.ts'

type Stands = RemoteFile | { readonly kind: 'folder' } | undefined

/** Something changed here lately, of which the listing says otherwise. */
interface Doubt {
  readonly path: string
  readonly listed: Stands
  /** False as soon as it is changed here once more. */
  readonly isOpen: () => boolean
  /** This is what stands there: listings decide again. */
  readonly end: (stands: Stands, askedAt: number) => void
}

export interface RefreshParts {
  readonly tree: Tree
  readonly files: Files
  readonly clock: Clock
}

/** The next look at or under the path, through the door too, asks the service. */
export async function refresh(parts: RefreshParts, path: string): Promise<void> {
  const node = parts.tree.find(path)
  const folder = (node?.folder === undefined ? node?.parent : node) ?? parts.tree.nodes.root
  // Folders below come before the folder itself, which may be kept for one of them alone.
  for (const known of [...foldersUnder(folder)].reverse()) {
    if (known === folder || hasChangedLately(parts.tree, known)) await loadTruly(parts, known)
    else parts.tree.askAgain(known)
    for (const child of known.folder?.children.values() ?? []) child.stored.expireLookup()
  }
  await parts.tree.notifier.heard()
}

function* foldersUnder(folder: Node): Iterable<Node> {
  yield folder
  for (const child of folder.folder?.children.values() ?? [])
    if (child.folder !== undefined) yield* foldersUnder(child)
}

function hasChangedLately({ synced }: Tree, folder: Node): boolean {
  return (folder.folder?.kept.size ?? 0) + synced.in(folder).size > 0
}

async function loadTruly(parts: RefreshParts, folder: Node): Promise<void> {
  const doubts = [...doubtsOf(parts.tree, folder, await parts.tree.loadFresh(folder))]
  let isAnyOver = false
  for (const { path, listed, isOpen, end } of doubts) {
    const askedAt = parts.clock.steady()
    const stands = await lookUp(parts.files, path).catch(() => 'unknown' as const)
    if (stands === 'unknown' || !isOpen() || !mayBe(listed, stands)) continue
    end(stands, askedAt)
    isAnyOver = true
  }
  if (isAnyOver) await parts.tree.loadFresh(folder)
}

/** Paths that the service agreed to a moment ago, and that the listing does not show so. */
function* doubtsOf(tree: Tree, folder: Node, listing: Listing): Iterable<Doubt> {
  for (const [name, row] of tree.synced.in(folder)) {
    const [path, listed] = [pathIn(folder, name), listing.names.get(name)]
    const { highest, agreedAt } = row
    // The folder, or the very version, that was removed here: no answer that shows it is of now.
    if (agreedAt === undefined || highest === undefined || folder.folder?.kept.has(name) === true) continue
    if (listed?.kind !== 'file' || fingerprintOf(listed) === highest) continue
    yield {
      path,
      listed,
      isOpen: () => tree.synced.at(path) === row,
      end(stands) {
        if (stands?.kind !== 'file' || fingerprintOf(stands) !== highest) tree.synced.leaveToListings(path)
      },
    }
  }
  for (const child of folder.folder?.children.values() ?? []) {
    const listed = listing.names.get(child.name)
    const shown: Stands = child.folder === undefined ? child.remote : { kind: 'folder' }
    const { path } = child
    const row = tree.places.agreed(child)
    if (row?.agreedAt === undefined || !isKept(child) || areSame(shown, listed)) continue
    yield {
      path,
      listed,
      isOpen: () => tree.places.agreed(child) === row && child.path === path && isKept(child),
      end(stands, askedAt) {
        const isThere = stands?.kind === 'file' && child.remote !== undefined
        // The next listing may lag behind the one that showed it.
        if (!isThere) return tree.places.leaveToListings(child)
        tree.places.settleSince(child, askedAt)
        // And it may tell too little of it to show that it is another one.
        tree.completed(child, stands, askedAt)
      },
    }
  }
}

/** True where the listing speaks of what stands there, as far as it tells. */
function mayBe(listed: Stands, stands: Stands): boolean {
  return listed?.kind === 'file' && stands?.kind === 'file'
    ? agrees(listed, stands)
    : listed?.kind === stands?.kind
}

function areSame(one: Stands, other: Stands): boolean {
  if (one?.kind === 'file' && other?.kind === 'file') return fingerprintOf(one) === fingerprintOf(other)
  return one?.kind === other?.kind
}
