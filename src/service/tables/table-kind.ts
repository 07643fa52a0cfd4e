// The three kinds of table (interface, "Table"). The interface does not show how a client chooses one: here with
// `settings.type`, or with the Table's own `type`.

import { ServiceError } from '../service-error.ts'
import type { TableKind } from './database.ts'

/** The interface shows only `Extraction`; the other two follow its style. */
export const wireTypes: Readonly<Record<TableKind, string>> = {
  extraction: 'Extraction',
  reconcile: 'Reconcile',
  storage: 'Storage',
}

const kindsByName: ReadonlyMap<string, TableKind> = new Map([
  ['extraction', 'extraction'],
  ['reconcile', 'reconcile'],
  ['reconciliation', 'reconcile'],
  ['storage', 'storage'],
])

/** The kind that these fields choose, in upper or lower case; default: extraction. Throws ServiceError 400, also if they differ. */
export function kindOf(types: Readonly<Record<string, unknown>>): TableKind {
  const kinds = Object.entries(types).flatMap(([name, type]) =>
    type === undefined ? [] : kindNamed(name, type),
  )
  if (new Set(kinds).size > 1)
    throw new ServiceError(400, `${Object.keys(types).join(' and ')} name different kinds: give one of them`)
  return kinds[0] ?? 'extraction'
}

function kindNamed(name: string, type: unknown): TableKind {
  const kind = typeof type === 'string' ? kindsByName.get(type.toLowerCase()) : undefined
  if (kind === undefined) throw new ServiceError(400, `${name} must be extraction, reconcile or storage`)
  return kind
}
