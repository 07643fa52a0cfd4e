// The schema of a table: given in `settings.schema` at its creation, else inferred from forwarded rows. The interface does not
// show the entries of `fields`: inferred ones are `{ "type": … }`.

import { ServiceError } from '../service-error.ts'
import type { TableRow } from './database.ts'

/** interface, "Table schema". */
export interface TableSchemaBody {
  readonly name: string
  readonly fields: Readonly<Record<string, unknown>>
  readonly id: string
  readonly description: string
  readonly order: readonly string[]
}

export type FieldType = 'string' | 'number' | 'boolean' | 'date' | 'array' | 'object'

/** Fields in the order of their first row; the type is null while all values were empty. */
export type InferredSchema = readonly (readonly [name: string, type: FieldType | null])[]

interface GivenSchema {
  readonly name?: string
  readonly fields?: Readonly<Record<string, unknown>>
  readonly description?: string
  readonly order?: readonly string[]
}

/** Throws ServiceError 400 if `settings.schema` does not have the shape of a Table schema. */
export function checkGivenSchema(settings: Readonly<Record<string, unknown>>): void {
  const { schema } = settings as { schema?: unknown }
  if (schema === undefined) return
  if (!isObject(schema)) throw new ServiceError(400, 'settings.schema must be an object')
  const { name, fields, description, order } = schema as Record<string, unknown> &
    Record<keyof GivenSchema, unknown>
  if (name !== undefined && typeof name !== 'string')
    throw new ServiceError(400, 'settings.schema.name must be a string')
  if (fields !== undefined && !isObject(fields))
    throw new ServiceError(400, 'settings.schema.fields must be an object')
  if (description !== undefined && typeof description !== 'string') {
    throw new ServiceError(400, 'settings.schema.description must be a string')
  }
  if (order !== undefined && !(Array.isArray(order) && order.every((name) => typeof name === 'string'))) {
    throw new ServiceError(400, 'settings.schema.order must be an array of strings')
  }
}

/** The schema of a table. A given one is returned as a whole, without inferred fields. */
export function schemaOf(table: TableRow): TableSchemaBody {
  const { schema } = JSON.parse(table.settings) as { schema?: GivenSchema }
  const inferred = JSON.parse(table.inferred) as InferredSchema
  const fields =
    schema === undefined
      ? Object.fromEntries(inferred.map(([name, type]) => [name, { type: type ?? 'string' }]))
      : (schema.fields ?? {})
  return {
    name: schema?.name ?? table.name,
    fields,
    id: table.id,
    description: schema?.description ?? '',
    order: schema === undefined ? inferred.map(([name]) => name) : (schema.order ?? Object.keys(fields)),
  }
}

/** Adds the fields of these rows to the known ones. A field with values of several types is a `string`. */
export function inferSchema(
  known: InferredSchema,
  rows: readonly Readonly<Record<string, unknown>>[],
): InferredSchema {
  const types = new Map<string, FieldType | null>(known)
  for (const row of rows) {
    for (const [name, value] of Object.entries(row)) {
      const before = types.get(name) ?? null
      const type = typeOf(value)
      types.set(name, before === null || type === null || before === type ? (before ?? type) : 'string')
    }
  }
  return [...types]
}

function typeOf(value: unknown): FieldType | null {
  if (value === null || value === '') return null
  if (Array.isArray(value)) return 'array'
  if (typeof value === 'number') return 'number'
  if (typeof value === 'boolean') return 'boolean'
  if (typeof value !== 'string') return 'object'
  return /^\d{4}-\d{2}-\d{2}(T|$)/.test(value) && !Number.isNaN(Date.parse(value)) ? 'date' : 'string'
}

function isObject(value: unknown): value is Readonly<Record<string, unknown>> {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
}
