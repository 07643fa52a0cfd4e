// The rows of a drive for a report: what each folder shows, what that is computed from, and the changes that are not sent.

import type { CommitQueue } from '../../content/commit/commit-queue.ts'
import type { Job } from '../../content/commit/job.ts'
import { fingerprintOf, isNewer } from '../../content/fingerprint.ts'
import { differencesIn, itemOf, type FolderRows, type Item, type NameRows } from '../../ledger/report.ts'
import type { Listed, Placed, SyncedPath, Told } from '../../ledger/view.ts'
import type { Report } from '../status.ts'
import type { Listing } from '../tree/listings.ts'
import { isKept } from '../tree/node-table.ts'
import { pathIn, type Node } from '../tree/node.ts'
import type { Tree } from '../tree/tree.ts'
import { explainedChange, type ExplainParts } from './explain.ts'

interface RowParts {
  readonly tree: Tree
  readonly queue: CommitQueue
}

const notYet: SyncedPath = { agreedAt: undefined, until: Infinity, highest: undefined }

/** Returns the rows of all names of which more is known than their listing says, or which show something else than it. */
export function report(parts: ExplainParts): Report {
  const folders: FolderRows[] = []
  for (const folder of folderRows(parts)) {
    const isWrong = differencesIn(folder).length > 0
    const names = folder.names.filter(
      ({ placed, synced }) => isWrong || placed !== undefined || synced !== undefined,
    )
    if (names.length > 0) folders.push({ ...folder, names })
  }
  const changes = Array.from(parts.queue.jobs(), (job) => explainedChange(parts, job))
  return { folders, changes }
}

/** Yields the rows of each folder that the drive knows. No call may be in the midst of a transaction. */
export function* folderRows(parts: RowParts): Iterable<FolderRows> {
  const jobs = jobsByPath(parts)
  const { root } = parts.tree.nodes
  const placed = placesFrom(parts.tree, root)
  for (const folder of foldersFrom(root)) yield rowsOf(parts, folder, placed.get(folder) ?? new Map(), jobs)
}

function rowsOf(
  { tree }: RowParts,
  folder: Node,
  placed: ReadonlyMap<string, Placed<Item>>,
  jobs: Jobs,
): FolderRows {
  const listing = tree.listings.known(folder)
  const answered = answeredBy(tree, folder, listing)
  const names = new Set([...(listing?.names.keys() ?? []), ...placed.keys(), ...answered.keys()])
  return {
    path: folder.path,
    listedAt: listing?.requestedAt,
    names: Array.from(names, (name): NameRows => ({
      name,
      listed: itemOf(listing?.names.get(name)),
      placed: placed.get(name),
      synced: syncedAt(tree, folder, name, jobs),
      shows: answered.get(name),
    })),
  }
}

function itemOfNode({ ino, kind, remote, content }: Node): Item {
  return {
    kind,
    ino,
    isTold: kind === 'folder' || remote !== undefined,
    size: remote?.size,
    modifiedAt: remote?.modifiedAt,
    spool: content?.id,
  }
}

/** Entries that the tree answers for a folder, without making nodes of those it only lists. */
function answeredBy(tree: Tree, folder: Node, listing: Listing | undefined): Map<string, Item> {
  const answered = new Map<string, Item>()
  const { kept, children } = folder.folder ?? { kept: new Set<string>(), children: new Map<string, Node>() }
  for (const name of listing === undefined ? kept : tree.names(folder, listing)) {
    const [known, record] = [children.get(name), listing?.names.get(name)]
    const isNode = known !== undefined && (kept.has(name) || known.kind === record?.kind)
    const item = isNode ? itemOfNode(known) : itemOf(record)
    if (item !== undefined) answered.set(name, item)
  }
  return answered
}

/** Documents and folders that are placed here, by the folder that each is in. */
function placesFrom(tree: Tree, top: Node): Map<Node, Map<string, Placed<Item>>> {
  const here = new Map<Node, Map<string, Placed<Item>>>()
  /** True where something below is more than what its listing says. */
  const look = (folder: Node): boolean => {
    const placed = new Map<string, Placed<Item>>()
    const listing = tree.listings.known(folder)
    let isAnything = false
    for (const child of folder.folder?.children.values() ?? []) {
      const holds = child.folder !== undefined && look(child)
      const isHere = child.isAhead || holds
      const isAgreed = tree.places.agreed(child)?.agreedAt !== undefined
      // A folder that stood for names in it stays when they go, until a listing decides.
      const isUndecided = listing === undefined && child.folder !== undefined && isKept(child)
      if (isHere || isAgreed || isUndecided || isToldSince(child, listing))
        placed.set(child.name, { shows: itemOfNode(child), isAtOwnPath: !isHere })
      isAnything ||= isHere || (isAgreed && child.folder === undefined)
    }
    here.set(folder, placed)
    return isAnything
  }
  look(top)
  return here
}

function syncedAt(tree: Tree, folder: Node, name: string, jobs: Jobs): SyncedPath | undefined {
  const node = folder.folder?.children.get(name)
  if (isOpen(jobs, pathIn(folder, name)) || node?.isAhead === true) return notYet
  const row = tree.synced.in(folder).get(name)
  if (row !== undefined) return node?.kind === 'file' ? { ...row, highest: node.stored.fingerprint } : row
  if (node === undefined || !isToldSince(node, tree.listings.known(folder))) return undefined
  const { askedAt, fingerprint } = node.stored
  return { agreedAt: askedAt, until: Infinity, highest: fingerprint }
}

/** The document itself was asked since its folder was listed, or its answer, which came later, is of what was stored later. */
function isToldSince({ name, stored }: Node, listed: Listed | undefined): boolean {
  if (listed === undefined || stored.record === undefined) return false
  if (stored.askedAt > listed.requestedAt) return true
  const record: Told | undefined = listed.names.get(name)
  return (
    stored.lookedUpAt !== undefined &&
    record?.kind === 'file' &&
    isNewer(stored.record, fingerprintOf(record))
  )
}

type Jobs = ReadonlyMap<string, readonly Job[]>

/** Changes by the paths that they change or take from, oldest first. */
export function jobsByPath({ queue }: Pick<RowParts, 'queue'>): Jobs {
  const jobs = new Map<string, Job[]>()
  for (const job of queue.jobs()) {
    const { path, source } = job.intention
    for (const at of new Set(source === undefined ? [path] : [path, source]))
      jobs.set(at, [...(jobs.get(at) ?? []), job])
  }
  return jobs
}

/** The service has not got yet what is wanted at this path. */
function isOpen(jobs: Jobs, path: string): boolean {
  return (jobs.get(path) ?? []).some(({ intention }) => {
    // Shown again until somebody tries once more.
    if (intention.kind === 'delete' && intention.isRefused) return false
    return intention.path === path || intention.keepSource !== true
  })
}

function* foldersFrom(top: Node): Iterable<Node> {
  yield top
  for (const child of top.folder?.children.values() ?? [])
    if (child.folder !== undefined) yield* foldersFrom(child)
}
