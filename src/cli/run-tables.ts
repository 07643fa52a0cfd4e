// Implements `docmount tables …`.

import { basename } from 'node:path'
import { schemaToWire, tableToWire } from '../api/table-to-wire.ts'
import { mimetypeFor, openLocal, countingReads } from './local-document.ts'
import { printJson, printTable } from './output.ts'
import { startProgress } from './progress.ts'
import { type TableOptions, readJsonObject, tableIdOf, withTables } from './with-tables.ts'

export interface TablesOptions extends TableOptions {
  readonly json?: boolean
}

export interface CreateOptions extends TablesOptions {
  readonly type?: string
  readonly schema?: string
  readonly settings?: string
}

export interface StoreOptions extends TablesOptions {
  readonly mimetype?: string
  readonly zeroRetention?: boolean
}

export async function listTables(options: TablesOptions): Promise<void> {
  const tables = await withTables(options, (all, signal) => all.list({ signal }))
  if (options.json === true) printJson(tables.map(tableToWire))
  else {
    const rows = tables.map(({ name, type, createdAt, id }) => [name, type, createdAt, id])
    printTable(['NAME', 'TYPE', 'CREATED', 'ID'], rows)
  }
}

/** The interface does not say how to choose a table's type; the reference service reads `settings.type`. */
export async function createTable(name: string, options: CreateOptions): Promise<void> {
  const { type, schema, settings } = options
  const allSettings = {
    ...(settings === undefined ? {} : await readJsonObject(settings)),
    ...(type === undefined ? {} : { type }),
    ...(schema === undefined ? {} : { schema: await readJsonObject(schema) }),
  }
  const table = await withTables(options, (tables, signal) =>
    tables.create({ name, settings: allSettings }, { signal }),
  )
  if (options.json === true) printJson(tableToWire(table))
  else console.log(table.id ?? `${name} is created`)
}

export async function showSchema(nameOrId: string, options: TablesOptions): Promise<void> {
  const schema = await withTables(options, async (tables, signal) =>
    tables.schema(await tableIdOf(tables, nameOrId, signal), { signal }),
  )
  if (options.json === true) {
    printJson(schemaToWire(schema))
    return
  }
  const { description, fields, order } = schema
  if (description !== undefined && description !== '') console.error(description)
  if (Object.keys(fields ?? {}).length === 0) console.error(`${nameOrId} has no fields yet`)
  const names = new Set([...(order ?? []), ...Object.keys(fields ?? {})])
  printTable(
    ['FIELD', 'TYPE'],
    [...names].map((field) => [field, fieldType(fields?.[field])]),
  )
}

/** The interface does not define the structure of a field: returns its `type` if it has one, else all of it. */
function fieldType(field: unknown): string | undefined {
  if (field === undefined) return undefined
  const { type } = (typeof field === 'object' && field !== null ? field : {}) as { type?: unknown }
  return typeof type === 'string' ? type : JSON.stringify(field)
}

export async function storeDocument(name: string, local: string, options: StoreOptions): Promise<void> {
  const answer = await withTables(options, async (tables, signal) => {
    const document = await openLocal(local, signal)
    const filename = local === '-' ? name : basename(local)
    const progress = startProgress(filename, { total: document.content.size })
    try {
      const mimetype = await mimetypeFor(options.mimetype, filename, document)
      const content = countingReads(document.content, (count) => progress.add(count))
      const zeroRetentionMode = options.zeroRetention === true ? { zeroRetentionMode: true } : {}
      return await tables.createStorage(
        name,
        { mimetype, filename, content, ...zeroRetentionMode },
        { signal },
      )
    } finally {
      progress.end()
      await document.removeTemporary()
    }
  })
  if (options.json === true) printJson(answer ?? null)
  else {
    console.error(messageOf(answer) ?? `${name} is stored`)
    for (const id of documentIdsOf(answer)) console.log(id)
  }
}

/** The interface does not define the answer; the reference service's has a `message` and `asset_ids`. */
function messageOf(answer: unknown): string | undefined {
  const { message } = (typeof answer === 'object' && answer !== null ? answer : {}) as { message?: unknown }
  return typeof message === 'string' ? message : undefined
}

/** Returns the ids that `docmount reconcile --file` takes. */
function documentIdsOf(answer: unknown): readonly string[] {
  const { asset_ids: ids } = (typeof answer === 'object' && answer !== null ? answer : {}) as {
    asset_ids?: unknown
  }
  return Array.isArray(ids) ? ids.filter((id) => typeof id === 'string') : []
}
