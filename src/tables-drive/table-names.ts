// Names of tables as names of folders: possible, and different from each other.

import type { Table } from '../api/table-types.ts'
import { cutTo, nameMaxBytes } from '../path.ts'

/** A table that can be asked for. */
export type KnownTable = Table & { readonly id: string }

/** The folder name of each table: its own, made possible; of those with the same name all but the oldest get their id behind it. */
export function folderNamesOf(tables: readonly Table[]): Map<string, KnownTable> {
  const names = new Map<string, KnownTable>()
  const known = tables.filter((table): table is KnownTable => table.id !== undefined && table.id !== '')
  for (const table of known.toSorted(byAge)) {
    const name = possible(table.name ?? table.id)
    names.set(names.has(name) ? withId(name, table.id) : name, table)
  }
  return names
}

function byAge(a: KnownTable, b: KnownTable): number {
  return (a.createdAt ?? '').localeCompare(b.createdAt ?? '') || a.id.localeCompare(b.id)
}

function withId(name: string, id: string): string {
  const suffix = ` (${possible(id)})`
  return cutTo(name, nameMaxBytes - Buffer.byteLength(suffix)) + suffix
}

/** Lone surrogates and U+FFFD would come back from the kernel as another name. */
function possible(name: string): string {
  // eslint-disable-next-line no-control-regex
  const storable = name.replaceAll(/[/\0\uFFFD\p{Surrogate}]/gu, '_')
  return storable === '' || storable === '.' || storable === '..'
    ? `_${storable}`
    : cutTo(storable, nameMaxBytes)
}
