// Implements `docmount serve --check-database`: says if this version can use the database, and what a start would change in it.

import { printable } from '../printable.ts'
import type { Schema } from '../service/store/migrate.ts'
import type { StorePlace } from '../service/store/opened-store.ts'
import { print } from './output.ts'

/** Changes nothing; the service may run meanwhile. Throws a StartError if the service could not start with this database. */
export async function checkDatabase(options: { readonly json?: boolean }, place: StorePlace): Promise<void> {
  const { schemaOfStore } = await import('../service/store/open-store.ts')
  const schema = await schemaOfStore(place)
  const { pending, newer } = schema
  print(options, { pending, newer }, printable(sentenceOf(schema)))
}

function sentenceOf({ pending, newer, isNew }: Schema): string {
  if (isNew) return 'There is no database yet: a start makes it.'
  if (pending.length > 0)
    return `A start adds to the database: ${pending.join(', ')}. Nodes of the version before go on with it.`
  if (newer.length > 0)
    return `The database is of a newer version (${newer.join(', ')}), and this one can use it.`
  return 'The database is up to date.'
}
