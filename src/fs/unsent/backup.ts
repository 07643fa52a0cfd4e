// A document that became a backup (`f` → `f~`) is not moved in the service at once: it rests. If a new document takes the old name
// (its successor), the backup stays on this machine, and the successor replaces the version in the service. If none comes, the
// service moves the backup.

import type { Job } from '../../content/commit/job.ts'
import { forgetStored, type ForgetParts } from './content.ts'
import { saveLocalRow, type LocalRowParts } from './local-rows.ts'
import type { Node } from '../tree/node.ts'
import type { CommitQueue } from '../../content/commit/commit-queue.ts'
import type { Owners } from './owners.ts'
import { isUnsubmitted } from './unsubmitted.ts'

interface DeferParts {
  /** Resting backups, by the path that they left. */
  readonly deferred: Map<string, DeferredBackup>
}

export interface BackupParts extends DeferParts, ForgetParts, LocalRowParts {
  readonly queue: CommitQueue
  readonly owners: Owners
}

/** How long a backup rests (ms): enough for an editor that writes the new version. */
export const backupGraceMs = 5_000

/** A resting backup, and the job that moves it, or sends content that the service has never had. */
export interface DeferredBackup {
  readonly node: Node
  readonly job: Job
}

/** True if an earlier move of the same document, which is not over yet, takes its bytes away from `path`. */
function isLeaving({ queue, owners }: BackupParts, node: Node, path: string): boolean {
  const first = queue.first(path)
  return first?.intention.source === path && first !== node.job && owners.of(first.intention) === node
}

/** Notes that the document that had `path` rests under its new name. Backups that rest no longer are removed. */
export function defer({ deferred }: DeferParts, path: string, backup: DeferredBackup): void {
  for (const [other, { node, job }] of deferred) if (node.job !== job) deferred.delete(other)
  deferred.set(path, backup)
}

/** Keeps the resting backup here when a successor takes the path. Part of the transaction that journals the successor. */
export function keepBackup(parts: BackupParts, path: string): void {
  const backup = parts.deferred.get(path)
  if (backup === undefined) return
  parts.deferred.delete(path)
  const { node, job } = backup
  // The service has a document at the backup's own path, which has to be replaced there.
  if (node.job !== job || node.isUnlinked || job.intention.base !== undefined) return
  // The backup is being written: the content accepted before goes on to its own path, and the new content follows.
  if (isUnsubmitted(node)) return
  // A document that an earlier change stores there has to be replaced, too, or deleted: a delete of the backup then sends a
  // delete to the service.
  if (parts.queue.first(node.path) !== job) return
  // Its bytes are between two paths: the move goes on.
  if (node.content === undefined && (node.storedPath !== path || isLeaving(parts, node, path))) return
  if (!parts.queue.withdraw(job)) return
  const { source, sourceFingerprint, keepSource } = job.intention
  // The document came from another path, and was not moved yet: the successor replaces nothing there.
  if (source !== undefined && source !== path && keepSource !== true)
    parts.queue.submit({ kind: 'delete', path: source, base: sourceFingerprint })
  parts.owners.withdraw(node)
  node.unsent.givenUp()
  node.local.markLocalOnly()
  if (node.content !== undefined) forgetStored(parts, node)
  saveLocalRow(parts, node)
}
