// Why a name shows or hides, by the rules of the ledger, and what holds each change of it.

import type { CommitQueue } from '../../content/commit/commit-queue.ts'
import type { Job } from '../../content/commit/job.ts'
import { ruleAt, type Told } from '../../ledger/view.ts'
import { folderOf, nameOf } from '../../path.ts'
import type { Clock } from '../../world/clock.ts'
import type { ExplainedChange, Explanation } from '../status.ts'
import type { Node } from '../tree/node.ts'
import { nodeAt } from '../tree/node-at.ts'
import type { Tree } from '../tree/tree.ts'

export interface ExplainParts {
  readonly tree: Tree
  readonly queue: CommitQueue
  readonly clock: Clock
}

/** Explains a path from what is known here; asks the service only where no listing of its folder is fresh, as any look does. */
export async function explain(parts: ExplainParts, path: string): Promise<Explanation> {
  // While the service is away, what is known here is told without a listing.
  const shows = await nodeAt(parts.tree, path).catch(() => parts.tree.find(path))
  const changes = parts.queue.jobsAt(path).map((job) => explainedChange(parts, job))
  return { path, shows: kindOf(shows), ...reasonOf(parts, path), changes }
}

function reasonOf(
  { tree, clock }: ExplainParts,
  path: string,
): Pick<Explanation, 'rule' | 'listing' | 'agreed'> {
  if (path === '/') return { rule: 'here', listing: undefined, agreed: undefined }
  const folder = tree.find(folderOf(path))
  if (folder?.folder === undefined) return { rule: 'gone', listing: undefined, agreed: undefined }
  const name = nameOf(path)
  const child = tree.keptChild(folder, name)
  const isAtOwnPath = child !== undefined && !child.isAhead && (child.folder?.kept.size ?? 0) === 0
  const placed = new Map(child && [[name, { shows: child, isAtOwnPath }]])
  const listing = tree.listings.known(folder)
  const synced = tree.synced.in(folder).get(name)
  const record = listing?.names.get(name)
  const iso = (ms: number): string => isoOfSteady(clock, ms)
  return {
    rule: ruleAt({ listing, placed, synced: () => synced }, name),
    listing: listing && {
      askedAt: iso(listing.requestedAt),
      has: kindOf(record),
      ...(record?.kind === 'file' ? { modifiedAt: record.modifiedAt } : {}),
    },
    agreed:
      synced?.agreedAt === undefined ? undefined : { at: iso(synced.agreedAt), until: iso(synced.until) },
  }
}

/** Tells what a change is to do, and what it waits for. */
export function explainedChange(
  { queue, clock }: Pick<ExplainParts, 'queue' | 'clock'>,
  job: Job,
): ExplainedChange {
  const { kind, path, source, since, attempts, lastError } = job.intention
  const { for: what, dueAt, older } = queue.waitOf(job)
  const waits = {
    for: what,
    ...(what === 'time' ? { at: isoOfSteady(clock, dueAt) } : {}),
    ...(older === undefined ? {} : { older: older.path }),
  }
  return { kind, path, source, since: new Date(since).toISOString(), attempts, lastError, waits }
}

function kindOf(what: Node | Told | undefined): Explanation['shows'] {
  if (what === undefined) return 'nothing'
  return what.kind === 'folder' ? 'folder' : 'document'
}

/** ISO time of a moment of the steady clock (ms). */
function isoOfSteady({ wall, steady }: Clock, ms: number): string {
  return new Date(wall() + ms - steady()).toISOString()
}
