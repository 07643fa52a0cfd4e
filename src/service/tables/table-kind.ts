// The three kinds of table (interface, "Table"). How a kind is asked for is not shown there: here
// `settings.type` says it, or the Table's own `type`.

import { ServiceError } from '../service-error.ts'
import type { TableKind } from './database.ts'

/** `Extraction` is the interface's own word, the other two are in its manner. */
export const wireTypes: Readonly<Record<TableKind, string>> = {
  extraction: 'Extraction',
  reconcile: 'Reconcile',
  storage: 'Storage',
}

const kindsByWord: ReadonlyMap<string, TableKind> = new Map([
  ['extraction', 'extraction'],
  ['reconcile', 'reconcile'],
  ['reconciliation', 'reconcile'],
  ['storage', 'storage'],
])

/** The kind that these types ask for, in any case; extraction where there is none. Throws ServiceError 400, also where they differ. */
export function kindOf(types: Readonly<Record<string, unknown>>): TableKind {
  const kinds = Object.entries(types).flatMap(([name, type]) =>
    type === undefined ? [] : kindNamed(name, type),
  )
  if (new Set(kinds).size > 1)
    throw new ServiceError(400, `${Object.keys(types).join(' and ')} name different kinds: give one of them`)
  return kinds[0] ?? 'extraction'
}

function kindNamed(name: string, type: unknown): TableKind {
  const kind = typeof type === 'string' ? kindsByWord.get(type.toLowerCase()) : undefined
  if (kind === undefined) throw new ServiceError(400, `${name} must be extraction, reconcile or storage`)
  return kind
}
