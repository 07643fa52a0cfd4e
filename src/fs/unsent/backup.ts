// A document that became a backup (`f` → `f~`) is not deleted: it rests where the service has it. When its successor takes
// the old name, the backup stays on this machine and the successor replaces what the service has; if none comes, the
// service moves it.

import type { Job } from '../../content/commit/job.ts'
import { forgetStored, type ForgetParts } from './content.ts'
import { saveLocalRow, type LocalRowParts } from './local-rows.ts'
import type { Node } from '../tree/node.ts'
import { putName } from '../tree/put-name.ts'
import type { CommitQueue } from '../../content/commit/commit-queue.ts'
import type { Journal } from '../../content/spool/journal.ts'
import type { Owners } from './owners.ts'
import { isUnsubmitted } from './unsubmitted.ts'

interface DeferParts {
  readonly journal: Journal
  /** By the path they left. */
  readonly deferred: Map<string, DeferredBackup>
}

export interface BackupParts extends DeferParts, ForgetParts, LocalRowParts {
  readonly queue: CommitQueue
  readonly owners: Owners
}

/** Long enough for an editor that writes the new version. */
export const backupGraceMs = 5_000

/** The backup's own intention: it moves the document, or sends what the service has never had. */
export interface DeferredBackup {
  readonly node: Node
  readonly job: Job
}

/** An earlier move of the same document, not at its end yet, takes its bytes away from there. */
function isLeaving({ queue, owners }: BackupParts, node: Node, path: string): boolean {
  const first = queue.first(path)
  return first?.intention.source === path && first !== node.job && owners.of(first.intention) === node
}

/** The document that stood at `path` rests under its new name. */
export function defer(parts: DeferParts, path: string, backup: DeferredBackup): void {
  for (const [other, { node, job }] of parts.deferred) if (node.job !== job) put(parts, other, undefined)
  put(parts, path, backup)
}

function put({ deferred, journal }: DeferParts, path: string, what: DeferredBackup | undefined): void {
  journal.onRollback(putName(deferred, path, what))
}

/** A successor takes the path: what rests stays on this machine. Part of the transaction that journals the successor. */
export function keepBackup(parts: BackupParts, path: string): void {
  const backup = parts.deferred.get(path)
  if (backup === undefined) return
  put(parts, path, undefined)
  const { node, job } = backup
  // A document at the backup's own place in the service has to be replaced there.
  if (node.job !== job || node.isUnlinked || job.intention.base !== undefined) return
  // It is being written: what was accepted of it goes on to its own place, and what is written follows.
  if (isUnsubmitted(node)) return
  // A document that an earlier change stores there has to be replaced, too, or deleted: a delete of the backup then asks
  // the service to.
  if (parts.queue.first(node.path) !== job) return
  // Its bytes are between two places: it goes on to its own.
  if (node.content === undefined && (node.storedPath !== path || isLeaving(parts, node, path))) return
  if (!parts.queue.withdraw(job)) return
  const { source, sourceFingerprint, keepSource } = job.intention
  // It had come from elsewhere and was not moved yet: the successor replaces nothing there.
  if (source !== undefined && source !== path && keepSource !== true)
    parts.queue.submit({ kind: 'delete', path: source, base: sourceFingerprint })
  parts.owners.withdraw(node)
  node.unsent.givenUp()
  node.local.markLocalOnly()
  if (node.content !== undefined) forgetStored(parts, node)
  saveLocalRow(parts, node)
}
