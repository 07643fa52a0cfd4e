// Folder names for tables: valid, and unique.

import type { Table } from '../api/table-types.ts'
import { cutTo, nameMaxBytes } from '../path.ts'

/** A table with an id, which requests need. */
export type KnownTable = Table & { readonly id: string }

/** Returns the tables by folder name: their own, made valid. If several have one name, all but the oldest get their id appended. */
export function folderNamesOf(tables: readonly Table[]): Map<string, KnownTable> {
  const names = new Map<string, KnownTable>()
  const known = tables.filter((table): table is KnownTable => table.id !== undefined && table.id !== '')
  for (const table of known.toSorted(byAge)) {
    const name = validName(table.name ?? table.id)
    names.set(names.has(name) ? withId(name, table.id) : name, table)
  }
  return names
}

function byAge(a: KnownTable, b: KnownTable): number {
  return (a.createdAt ?? '').localeCompare(b.createdAt ?? '') || a.id.localeCompare(b.id)
}

function withId(name: string, id: string): string {
  const suffix = ` (${validName(id)})`
  return cutTo(name, nameMaxBytes - Buffer.byteLength(suffix)) + suffix
}

/** Lone surrogates and U+FFFD are replaced, too, because the kernel would return them as another name. */
function validName(name: string): string {
  // eslint-disable-next-line no-control-regex
  const storable = name.replaceAll(/[/\0\uFFFD\p{Surrogate}]/gu, '_')
  return storable === '' || storable === '.' || storable === '..'
    ? `_${storable}`
    : cutTo(storable, nameMaxBytes)
}
