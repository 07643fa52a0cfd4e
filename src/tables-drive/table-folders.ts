// The folders in `.tables`: one per table, refreshed after the cache lifetime. Each contains `table.json`, `schema.json` and the
// drop folders `forward` and `reconcile`.

import type { Tables } from '../api/table-types.ts'
import { schemaToWire, tableToWire } from '../api/table-to-wire.ts'
import type { MaybePromise } from '../fs/operations.ts'
import { Content } from './content.ts'
import { forwardTarget } from './forward-target.ts'
import type { ForwardedContents } from './forwarded-contents.ts'
import { TtlCache } from './ttl-cache.ts'
import type { Clock } from '../world/clock.ts'
import type { ReconcileRun } from './reconcile-run.ts'
import { reconcileTarget } from './reconcile-target.ts'
import { folderNamesOf, type KnownTable } from './table-names.ts'
import type { VirtualNode, VirtualNodes } from './virtual-node.ts'

export interface TableFoldersOptions {
  readonly tables: Tables
  readonly nodes: VirtualNodes
  /** The folder `.tables` itself. */
  readonly root: VirtualNode
  readonly ttlMs: number
  readonly clock: Clock
  /** Aborted when the drive ends. */
  readonly signal: AbortSignal
  /** Contents forwarded to the tables before. */
  readonly contents: ForwardedContents
  readonly onRun: (run: ReconcileRun) => void
}

interface TableFolder {
  readonly folder: VirtualNode
  readonly tableFile: VirtualNode
  readonly schema: TtlCache
}

export class TableFolders {
  readonly #options: TableFoldersOptions
  /** By table id, so that a renamed table keeps its nodes and dropped files. */
  readonly #folders = new Map<string, TableFolder>()
  readonly #listing: TtlCache

  constructor(options: TableFoldersOptions) {
    this.#options = options
    const { ttlMs, clock, root } = options
    this.#listing = new TtlCache({ ttlMs, now: clock.steady, load: () => this.#load() })
    root.refreshChildren = (signal): MaybePromise<void> => this.#listing.ensure(signal)
  }

  /** Makes the next access ask the service. */
  forget(): void {
    this.#listing.forget()
    for (const { schema } of this.#folders.values()) schema.forget()
  }

  async #load(): Promise<void> {
    const { tables, nodes, root, signal } = this.#options
    const names = folderNamesOf(await tables.list({ signal }))
    const ids = new Set([...names.values()].map(({ id }) => id))
    for (const [id, { folder }] of this.#folders) {
      if (ids.has(id)) continue
      this.#folders.delete(id)
      nodes.detach(folder)
    }
    // Two tables may have swapped their names: each folder leaves its place before another takes it.
    for (const [name, { id }] of names) {
      const folder = this.#folders.get(id)?.folder
      if (folder !== undefined && folder.name !== name) root.children.delete(folder.name)
    }
    for (const [name, table] of names) {
      const known = this.#folders.get(table.id) ?? this.#make(name, table)
      nodes.attach(known.folder, root, name)
      this.#setContent(known.tableFile, tableToWire(table))
    }
  }

  #make(name: string, table: KnownTable): TableFolder {
    const { nodes, root, tables, ttlMs, clock, signal, contents, onRun } = this.#options
    const createdMs = Date.parse(table.createdAt ?? '')
    const mtimeMs = Number.isNaN(createdMs) ? clock.wall() : createdMs
    const folder = nodes.add({ kind: 'folder', name, parent: root, mode: 0o555, mtimeMs })
    const file = (fileName: string): VirtualNode =>
      nodes.add({ kind: 'file', name: fileName, parent: folder, mode: 0o444, mtimeMs })
    const dropFolder = (folderName: string): VirtualNode =>
      nodes.add({ kind: 'folder', name: folderName, parent: folder, mode: 0o755, mtimeMs })

    const tableFile = file('table.json')
    const schemaFile = file('schema.json')
    const load = async (): Promise<void> =>
      this.#setContent(schemaFile, schemaToWire(await tables.schema(table.id, { signal })))
    const schema = new TtlCache({ ttlMs, now: clock.steady, load })
    schemaFile.refreshContent = (waiting): MaybePromise<void> => schema.ensure(waiting)
    if (takesRows(table)) {
      const onForwarded = (): void => schema.forget()
      const tableId = table.id
      dropFolder('forward').target = forwardTarget({
        tables,
        tableId,
        contents,
        now: clock.wall,
        onForwarded,
      })
      dropFolder('reconcile').target = reconcileTarget(tables, tableId, (run) =>
        onRun({ at: new Date(clock.wall()).toISOString(), table: table.name ?? name, ...run }),
      )
    }

    const made = { folder, tableFile, schema }
    this.#folders.set(table.id, made)
    return made
  }

  /** Leaves unchanged content alone, because programs watch its mtime. */
  #setContent(file: VirtualNode, value: object): void {
    const text = Buffer.from(`${JSON.stringify(value, undefined, 2)}\n`)
    if (file.content !== undefined && text.equals(file.content.bytes())) return
    if (file.content !== undefined) file.touch(this.#options.clock.wall())
    file.content = new Content(text)
  }
}

/** False only for storage tables: the interface names no other kind but `Extraction`, so unknown ones may take rows. */
function takesRows({ type }: KnownTable): boolean {
  return type?.toLowerCase() !== 'storage'
}
