// The shadow of the tree: what each folder shows, computed by the ledger's pure function from the listings and the rows that
// there are, is what the tree answers: the same names, and the same version at each. Each difference is a defect
// of one of the two.

import type { RemoteFile } from '../../src/api/types.ts'
import type { Job } from '../../src/content/commit/job.ts'
import { agrees, fingerprintOf, isNewer, isSameVersion } from '../../src/content/fingerprint.ts'
import { empties, type Intention } from '../../src/content/intention.ts'
import type { Superblock } from '../../src/fs/superblock.ts'
import type { Listing } from '../../src/fs/tree/listings.ts'
import { pathIn, type Node } from '../../src/fs/tree/node.ts'
import { isKept } from '../../src/fs/tree/node-table.ts'
import { shown, type Listed, type Placed, type SyncedPath, type Told } from '../../src/ledger/view.ts'
import { folderOf, nameOf } from '../../src/path.ts'

type Shadowed = Pick<Superblock, 'tree' | 'queue'>

const notYet: SyncedPath = { agreedAt: undefined, until: Infinity, highest: undefined }

/** Throws where the tree shows something else than it should. No call may be in the midst of a transaction. */
export function checkShadow(sb: Shadowed): void {
  const jobs = jobsByPath(sb)
  for (const { intention } of sb.queue.jobs()) checkChange(sb, intention, jobs)
  const here = placesFrom(sb, sb.tree.nodes.root)
  for (const folder of foldersFrom(sb.tree.nodes.root)) checkFolder(sb, folder, here, jobs)
}

function checkFolder(
  sb: Shadowed,
  folder: Node,
  here: ReadonlyMap<Node, ReadonlyMap<string, Placed<Node>>>,
  jobs: Jobs,
): void {
  const listing = sb.tree.listings.known(folder)
  const placed = here.get(folder) ?? new Map<string, Placed<Node>>()
  const synced = (name: string): SyncedPath | undefined => syncedAt(sb, folder, name, jobs)
  const expected = shown<Node>({ listing, placed, synced })
  const answered = answeredBy(sb, folder, listing)
  for (const name of new Set([...expected.keys(), ...answered.keys()])) {
    const [should, does] = [expected.get(name), answered.get(name)]
    if (should === undefined ? does === undefined : does !== undefined && isSame(does, should)) continue
    const row = JSON.stringify(synced(name))
    throw new Error(
      `shadow: ${pathIn(folder, name)} shows ${said(does)}, and should show ${said(should)}: listed at ${listing?.requestedAt} is ` +
        `${said(listing?.names.get(name))}, here is ${said(placed.get(name)?.shows)}, known is ${row}`,
    )
  }
}

/** Entries that the tree answers for a folder, without making nodes of those it only lists. */
function answeredBy(
  { tree }: Shadowed,
  folder: Node,
  listing: Listing | undefined,
): Map<string, Node | Told> {
  const answered = new Map<string, Node | Told>()
  const { kept, children } = folder.folder ?? { kept: new Set<string>(), children: new Map<string, Node>() }
  for (const name of listing === undefined ? kept : tree.names(folder, listing)) {
    const [known, record] = [children.get(name), listing?.names.get(name)]
    const isNode = known !== undefined && (kept.has(name) || known.kind === record?.kind)
    const what = isNode ? known : record
    if (what !== undefined) answered.set(name, what)
  }
  return answered
}

/** Nodes that are placed here, by the folder that each is in. */
function placesFrom({ tree }: Shadowed, top: Node): Map<Node, Map<string, Placed<Node>>> {
  const here = new Map<Node, Map<string, Placed<Node>>>()
  /** True where something below is more than what its listing says. */
  const look = (folder: Node): boolean => {
    const placed = new Map<string, Placed<Node>>()
    const listing = tree.listings.known(folder)
    let isAnything = false
    for (const child of folder.folder?.children.values() ?? []) {
      const holds = child.folder !== undefined && look(child)
      const isHere = child.isAhead || holds
      const isAgreed = tree.places.agreed(child)?.agreedAt !== undefined
      // A folder that stood for names in it stays when they go, until a listing decides.
      const isUndecided = listing === undefined && child.folder !== undefined && isKept(child)
      if (isHere || isAgreed || isUndecided || isToldSince(child, listing))
        placed.set(child.name, { shows: child, isAtOwnPath: !isHere })
      isAnything ||= isHere || (isAgreed && child.folder === undefined)
    }
    here.set(folder, placed)
    return isAnything
  }
  look(top)
  return here
}

function syncedAt({ tree }: Shadowed, folder: Node, name: string, jobs: Jobs): SyncedPath | undefined {
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
  const record = listed.names.get(name)
  return (
    stored.lookedUpAt !== undefined &&
    record?.kind === 'file' &&
    isNewer(stored.record, fingerprintOf(record))
  )
}

type Jobs = ReadonlyMap<string, readonly Job[]>

/** Jobs by the paths that they change or take from, oldest first. */
function jobsByPath({ queue }: Shadowed): Jobs {
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

/** Throws unless the path of a change shows the content that the change carries, or is being written to. */
function checkChange({ queue, tree }: Shadowed, intention: Intention, jobs: Jobs): void {
  const { kind, path, spool } = intention
  const last = jobs.get(path)?.findLast((job) => job.intention.path === path || empties(job.intention, path))
  if (kind !== 'put' || last?.intention !== intention) return
  const folder = tree.find(folderOf(path))
  const node = folder === undefined ? undefined : tree.keptChild(folder, nameOf(path))
  if (node === undefined || node.folder !== undefined)
    throw new Error(`shadow: ${path} is to be sent, and shows ${said(node)}`)
  const isIt = queue.find(path) === node.job && (spool === undefined || node.content?.id === spool)
  if (!isIt && !node.isDirty)
    throw new Error(`shadow: ${path} shows ${said(node)}, to be sent is ${JSON.stringify(intention)}`)
}

function* foldersFrom(top: Node): Iterable<Node> {
  yield top
  for (const child of top.folder?.children.values() ?? [])
    if (child.folder !== undefined) yield* foldersFrom(child)
}

function isSame(one: Node | Told, other: Node | Told): boolean {
  if (one === other || one.kind !== other.kind) return one === other
  if (one.kind === 'folder') return true
  const [record, otherRecord] = [recordOf(one), recordOf(other)]
  if (record === undefined || otherRecord === undefined) return false
  return agrees(otherRecord, record) || isSameVersion(fingerprintOf(record), fingerprintOf(otherRecord))
}

function recordOf(what: Node | Told): RemoteFile | undefined {
  if ('ino' in what) return what.remote
  return what.kind === 'file' ? what : undefined
}

function said(what: Node | Told | undefined): string {
  if (what === undefined) return 'nothing'
  if (what.kind === 'folder') return 'a folder'
  const record = recordOf(what)
  const version = record === undefined ? 'no version' : fingerprintOf(record)
  return 'ino' in what && what.content !== undefined ? `${what.content.id} (${version})` : version
}
