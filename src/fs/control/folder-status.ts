// The states of a folder's names, as known here: it asks no service, and walks no folder. The state of a folder is the worst one
// below it, computed from the unsent, local and conflicting documents of the drive, which are few.

import type { SavedListings } from '../../content/spool/saved-listings.ts'
import type { Told } from '../../ledger/view.ts'
import { folderOf, isAtOrUnder, nameBelow, nameOf, pathBelow } from '../../path.ts'
import type { ConflictCopies } from '../attention/conflict-copies.ts'
import { hereOf, type HereParts } from '../pins/here.ts'
import type { Pins } from '../pins/pins.ts'
import { documentOf } from '../pins/survey.ts'
import { nameStates, type FolderStatus, type Here, type NameState, type NameStatus } from '../status.ts'
import type { Unsent } from '../status.ts'
import type { HandleTable } from '../tree/handles.ts'
import type { Node } from '../tree/node.ts'
import type { Tree } from '../tree/tree.ts'
import { isUndecided, whyHere, type LocalOnly } from '../unsent/local-only.ts'
import { unsentAt, unsentUnder, type UnsentParts } from '../unsent/unsent-now.ts'

export interface FolderParts extends UnsentParts, HereParts {
  readonly tree: Tree
  readonly handles: HandleTable
  readonly saved: SavedListings
  readonly conflicts: ConflictCopies
  readonly localOnly: LocalOnly
  readonly pins: Pins
}

/** One reason why a path is not simply stored. */
interface Concern {
  readonly path: string
  readonly state: NameState
  readonly sentBytes: number
  readonly bytesToSend: number
  readonly problem?: string | undefined
}

/** Concerns of several paths as one. */
type Sum = Omit<Concern, 'path'>

const stored: Sum = { state: 'stored', sentBytes: 0, bytesToSend: 0 }

export function folderStatus(parts: FolderParts, path: string): FolderStatus {
  const below = sumsBelow(parts, path)
  const listed = listedIn(parts, path)
  const names = parts.tree.names(parts.tree.find(path) ?? { path }, {
    names: listed ?? new Map<string, Told>(),
  })
  const sumOf = (name: string): Sum => below.get(name) ?? stored
  return {
    path,
    own: ownStatus(parts, path, sumOfAll(below)),
    names: names.flatMap((name) => nameStatus(parts, path, { name, record: listed?.get(name) }, sumOf) ?? []),
    isListed: listed !== undefined,
  }
}

/** Returns the state of one node, as `folderStatus` does for a name. */
export function nodeStatus(parts: FolderParts, node: Node): NameStatus {
  return statusOf(parts, node, sumOfAll(sumsBelow(parts, node.path)))
}

/** Returns the concerns by name in a folder, summed over all paths below each; under the empty name, those of the path itself. */
function sumsBelow(parts: FolderParts, path: string): ReadonlyMap<string, Sum> {
  const isFile = parts.tree.find(path)?.kind === 'file'
  const own = isFile ? unsentAt(parts, path) : undefined
  // For a document only its own row is read, because file managers ask for each of many documents.
  const unsent = isFile ? (own === undefined ? [] : [own]) : unsentUnder(parts, path)
  const below = new Map<string, Sum>()
  for (const concern of [...unsent.map(unsentConcern), ...otherConcerns(parts)]) {
    if (!isAtOrUnder(concern.path, path)) continue
    const name = nameBelow(path, concern.path)
    below.set(name, worseOf(below.get(name) ?? stored, concern))
  }
  return below
}

function sumOfAll(below: ReadonlyMap<string, Sum>): Sum {
  return [...below.values()].reduce(worseOf, stored)
}

function ownStatus(parts: FolderParts, path: string, sum: Sum): NameStatus | undefined {
  const node = parts.tree.find(path)
  if (path === '/') return node === undefined ? undefined : statusOf(parts, node, sum)
  const above = folderOf(path)
  const name = nameOf(path)
  const listed = listedIn(parts, above)
  const folder = parts.tree.find(above) ?? { path: above }
  const isShown = listed === undefined || parts.tree.names(folder, { names: listed }).includes(name)
  return isShown ? nameStatus(parts, above, { name, record: listed?.get(name) }, () => sum) : undefined
}

/** Returns undefined if the name has neither a node nor a record in the folder's last listing. */
function nameStatus(
  parts: FolderParts,
  folder: string,
  { name, record }: { name: string; record: Told | undefined },
  sumOf: (name: string) => Sum,
): NameStatus | undefined {
  const node = parts.tree.find(pathBelow(folder, name))
  if (node !== undefined) return statusOf(parts, node, sumOf(name), record)
  if (record === undefined) return undefined
  const path = pathBelow(folder, name)
  if (record.kind === 'folder') return nameStatusOf(name, 'folder', sumOf(name), hereOfFolder(parts, path))
  const here = hereOf(parts, documentOf(undefined, record, path, 0))
  return nameStatusOf(name, 'file', sumOf(name), { here, isPinned: parts.pinStore.pinOf(path) !== undefined })
}

function statusOf(parts: FolderParts, node: Node, sum: Sum, record?: Told): NameStatus {
  const { path, name, folder } = node
  if (folder !== undefined)
    return nameStatusOf(name, 'folder', madeHere(node, sum), hereOfFolder(parts, path))
  const file = record?.kind === 'file' ? record : undefined
  const here = hereOf(parts, documentOf(node, file, path, 0))
  return nameStatusOf(name, 'file', sum, { here, isPinned: parts.pinStore.pinOf(path) !== undefined })
}

function nameStatusOf(
  name: string,
  kind: NameStatus['kind'],
  sum: Sum,
  where: Pick<NameStatus, 'here' | 'isPinned'>,
): NameStatus {
  const { state, sentBytes, bytesToSend, problem } = sum
  const why = problem === undefined ? {} : { problem }
  return { name, kind, state, ...where, sentBytes, bytesToSend, ...why }
}

/** Returns `local` for a folder that was made here, and has no document to send. */
function madeHere({ folder }: Node, sum: Sum): Sum {
  if (folder?.isMadeHere !== true || sum.state !== 'stored') return sum
  return { ...sum, state: 'local', problem: 'an empty folder reaches the service with its first document' }
}

/** For a folder only pins count: cached documents would have to be found by a walk. */
function hereOfFolder(parts: FolderParts, path: string): { here: Here; isPinned: boolean } {
  const pins = parts.pins.status()
  const pin = parts.pinStore.pinOf(path)
  if (pin === undefined) {
    const isPartly = pins.some((each) => isAtOrUnder(each.path, path) && each.documentsHere > 0)
    return { here: isPartly ? 'partly' : 'no', isPinned: false }
  }
  const isHere = pins.find((each) => each.path === pin)?.state === 'here'
  return { here: isHere ? 'pinned' : 'partly', isPinned: true }
}

/** Returns the records by name of the folder's last listing, also of an earlier run; undefined if it was never listed. */
function listedIn({ tree, saved }: FolderParts, path: string): ReadonlyMap<string, Told> | undefined {
  const node = tree.find(path)
  const known = node === undefined ? undefined : tree.listings.known(node)
  const records =
    known?.names.values() ?? saved.load(path) ?? (node?.folder?.isMadeHere === true ? [] : undefined)
  return records === undefined ? undefined : new Map(Array.from(records, (record) => [record.name, record]))
}

function worseOf(sum: Sum, other: Sum): Sum {
  const isWorse = nameStates.indexOf(other.state) > nameStates.indexOf(sum.state)
  const { state, problem } = isWorse ? other : sum
  return {
    state,
    sentBytes: sum.sentBytes + other.sentBytes,
    bytesToSend: sum.bytesToSend + other.bytesToSend,
    problem: problem ?? sum.problem ?? other.problem,
  }
}

const unsentStates: Readonly<Record<Unsent['state'], NameState>> = {
  pending: 'waiting',
  retrying: 'waiting',
  sending: 'sending',
  refused: 'refused',
  unkept: 'refused',
}

function unsentConcern({ path, state, bytes, sentBytes, lastError }: Unsent): Concern {
  return { path, state: unsentStates[state], sentBytes, bytesToSend: bytes, problem: lastError }
}

function* otherConcerns({ tree, conflicts, localOnly, handles }: FolderParts): Iterable<Concern> {
  for (const { path, copy } of conflicts.list(tree)) {
    yield { ...stored, path, state: 'conflict', problem: `another version is kept as ${nameOf(copy)}` }
    yield { ...stored, path: copy, state: 'conflict', problem: `another version of ${nameOf(path)}` }
  }
  for (const node of localOnly.all()) {
    const state = isUndecided(node) ? 'undecided' : 'local'
    yield { ...stored, path: node.path, state, problem: whyHere(node) }
  }
  for (const node of handles.written())
    if (node.isDirty && !node.isLocalOnly && !node.isUnlinked)
      yield {
        ...stored,
        path: node.path,
        state: 'waiting',
        problem: 'open in a program: it is sent when it is closed',
      }
}
