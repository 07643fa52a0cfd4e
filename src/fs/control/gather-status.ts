// Status of the filesystem, gathered from its parts.

import type { LostAndFound } from '../../content/spool/lost-and-found.ts'
import type { WatchedFiles } from '../../content/reach/watched-files.ts'
import { filesSetAside } from '../../content/spool/set-aside.ts'
import type { Disk } from '../../world/disk.ts'
import type { ConflictCopies } from '../attention/conflict-copies.ts'
import type { Pins } from '../pins/pins.ts'
import type { RefusedNames } from '../attention/refused-names.ts'
import type { FileSystemStatus, LocalFile } from '../status.ts'
import type { HandleTable } from '../tree/handles.ts'
import { isKept } from '../tree/node-table.ts'
import type { Tree } from '../tree/tree.ts'
import type { DamageReports } from '../attention/damage-reports.ts'
import { isLinkedLocalOnly, localFiles, whyHere, type LocalOnly } from '../unsent/local-only.ts'
import { bytesOf, unsentUnder, type UnsentParts } from '../unsent/unsent-now.ts'

export interface StatusParts extends UnsentParts {
  readonly files: WatchedFiles
  readonly settings: { readonly readOnly: boolean; readonly stateDir: string; readonly cacheDir: string }
  readonly tree: Tree
  readonly handles: HandleTable
  readonly localOnly: LocalOnly
  readonly refusedNames: RefusedNames
  readonly conflicts: ConflictCopies
  readonly pins: Pins
  readonly lost: LostAndFound
  readonly damageReports: DamageReports
  readonly disk: Disk
}

export function status(parts: StatusParts): FileSystemStatus {
  const unsent = unsentUnder(parts, '/')
  const scratch = scratchFiles(parts.tree)
  const conflictCopies = parts.conflicts.list(parts.tree)
  return {
    project: parts.files.project,
    readOnly: parts.settings.readOnly,
    service: parts.reach.state,
    stale: parts.reach.isAway,
    away: parts.reach.absence,
    isPaused: parts.queue.isPausedBy('asked'),
    keyRefusal: parts.files.keyRefusal,
    unsent,
    unsentBytes: bytesOf(unsent),
    scratchFiles: scratch.length,
    scratch,
    localOnly: localFiles(parts.localOnly),
    // Forgotten once a document is stored there; hidden, but remembered, while one is there that is only here.
    refusedNames: parts.refusedNames
      .list((path) => parts.tree.find(path)?.isLocalOnly === false && isThere(parts.tree, path))
      .filter(({ path }) => !isThere(parts.tree, path)),
    pins: parts.pins.status(),
    conflictCopies,
    conflicts: parts.conflicts.counted + conflictCopies.length,
    lost: parts.lost.list(),
    damaged: filesSetAside(parts.settings.stateDir, parts.disk),
    trouble: parts.damageReports.list(),
    oddEntries: parts.tree.source.oddEntries,
    openHandles: parts.handles.count,
    knownNodes: parts.tree.nodes.count,
    calls: { api: parts.files.apiCalls, downloads: parts.files.downloads, failed: parts.files.failedCalls },
    stateDir: parts.settings.stateDir,
    cacheDir: parts.settings.cacheDir,
  }
}

/** Every file that is only here. `localOnly` names those of them that have been so for a while. */
function scratchFiles(tree: Tree): LocalFile[] {
  const files: LocalFile[] = []
  for (const node of tree.nodes.all())
    if (isLinkedLocalOnly(node) && node.folder === undefined && isKept(node))
      files.push({ path: node.path, bytes: node.size ?? 0, why: whyHere(node) })
  return files
}

/** True where a name is known to be there, as far as can be said without asking. */
function isThere(tree: Tree, path: string): boolean {
  const node = tree.find(path)
  return node !== undefined && !node.isUnlinked
}
