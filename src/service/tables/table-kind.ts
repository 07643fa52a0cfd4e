// The three kinds of table (interface, "Table"). How a kind is asked for is not shown there: here `settings.type` says it.

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

/** The kind `settings.type` asks for, in any case; extraction where it is absent. Throws ServiceError 400. */
export function kindOfSettings(settings: Readonly<Record<string, unknown>>): TableKind {
  const { type } = settings as { type?: unknown }
  if (type === undefined) return 'extraction'
  const kind = typeof type === 'string' ? kindsByWord.get(type.toLowerCase()) : undefined
  if (kind === undefined)
    throw new ServiceError(400, 'settings.type must be extraction, reconcile or storage')
  return kind
}
