// Tables in the drive (`docmount mount --tables`): a folder `.tables` in the root of the project, for programs that work only with
// files. fs/ does not depend on it.
//
//   .tables/NAME/table.json      the table as the service describes it, read-only
//               /schema.json     its schema, read-only
//               /forward/        rows.csv dropped here → forwarded, rows.csv.result.json beside it
//               /reconcile/      item.json dropped here → reconciled, item.json.result.json beside it
//
// Dropped files and results are in memory, and gone after unmounting.

import type { Tables } from '../api/table-types.ts'
import { realWorld, type World } from '../world/world.ts'
import type { FileSystem } from '../fs/contract.ts'
import { type Caller, rootIno } from '../fs/operations.ts'
import { readOnly } from '../fs/wrappers/read-only.ts'
import { type Log, silentLog } from '../log.ts'
import { overlay, overlayIno } from './overlay.ts'
import { DropQuota } from './drop-quota.ts'
import { ForwardedContents } from './forwarded-contents.ts'
import type { ReconcileRun } from './reconcile-run.ts'
import { TableFolders } from './table-folders.ts'
import { VirtualNodes } from './virtual-node.ts'
import { virtualTree } from './virtual-tree.ts'

const folderName = '.tables'

export interface TablesDriveOptions {
  readonly tables: Tables
  /** A local folder, shared by all drives, that records the contents forwarded to each table. */
  readonly forwardedDir: string
  /** Cache lifetime of the list of tables and of each schema. Default: 30 s. */
  readonly cacheTtlMs?: number | undefined
  readonly readOnly?: boolean | undefined
  readonly log?: Log | undefined
  /** Called at the end of every reconciliation of a dropped file. */
  readonly onRun?: ((run: ReconcileRun) => void) | undefined
  /** Time, chance, disk, network. Default: this machine's. */
  readonly world?: World | undefined
}

/**
 * Returns the filesystem with the folder `.tables`; unchanged, with a warning in the log, if the project has one itself.
 * Throws the errors of a lookup in the root.
 */
export async function withTablesFolder(inner: FileSystem, options: TablesDriveOptions): Promise<FileSystem> {
  const { tables, cacheTtlMs: ttlMs = 30_000, log = silentLog, world = realWorld() } = options
  const { clock, disk } = world
  const ending = new AbortController()
  const caller: Caller = { uid: 0, gid: 0, pid: process.pid, signal: ending.signal }
  if (await hasOwn(inner, caller)) {
    log.warn({ folder: `/${folderName}` }, 'the project has a folder of this name: its tables are not shown')
    return inner
  }

  const { uid, gid } = (await inner.getattr(rootIno, undefined, caller)).attributes
  const nodes = new VirtualNodes(overlayIno, { uid, gid })
  const root = nodes.add({
    kind: 'folder',
    name: folderName,
    parent: undefined,
    mode: 0o555,
    mtimeMs: clock.wall(),
  })
  const folders = new TableFolders({
    tables,
    nodes,
    root,
    ttlMs,
    clock,
    signal: ending.signal,
    contents: new ForwardedContents(disk, options.forwardedDir),
    onRun: options.onRun ?? (() => {}),
  })
  const tree = virtualTree({ nodes, quota: new DropQuota(nodes), log, now: clock.wall })
  const drive = overlay(inner, { name: folderName, tree, onHidden: warnOnce(log) })
  const shown = options.readOnly === true ? readOnly(drive) : drive
  return {
    ...shown,
    async refresh(path) {
      const isOwn = path === `/${folderName}` || path.startsWith(`/${folderName}/`)
      if (path === '/' || isOwn) folders.forget()
      if (!isOwn) await inner.refresh(path)
    },
    async close() {
      ending.abort()
      await inner.close()
    },
  }
}

async function hasOwn(inner: FileSystem, caller: Caller): Promise<boolean> {
  const { attributes } = await inner.lookup(rootIno, folderName, caller)
  if (attributes === undefined) return false
  inner.forget(attributes.ino, 1)
  return true
}

/** Warns about a folder of this name that appeared in the project after mounting. */
function warnOnce(log: Log): () => void {
  let hasWarned = false
  return () => {
    if (hasWarned) return
    hasWarned = true
    log.warn(
      { folder: `/${folderName}` },
      'the project has a folder of this name now: not seen until mounted again',
    )
  }
}
