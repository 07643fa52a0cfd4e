// Requests and responses of tables and reconciliation (interface, "Table" to "Forward item"): JSON Schemas that check requests
// and make the OpenAPI document, each beside its TypeScript type.

import { type Schema, Type } from '../json-schema.ts'
import { type DocumentBody, dateTimeSchema, documentSchema, uuidSchema } from '../schemas.ts'
import type { TableSchemaBody } from './table-schema.ts'

const anyObjectSchema: Schema = Type.Object({}, { additionalProperties: true })
const tableNameSchema: Schema = Type.String({ minLength: 1, maxLength: 255, pattern: '^[^\\u0000]*$' })

/** interface, "Table". */
export interface TableBody {
  readonly name: string
  readonly type: string
  readonly id: string
  readonly created_at: string
  readonly settings: Readonly<Record<string, unknown>>
}
const tableProperties = {
  name: Type.String(),
  type: Type.Enum(['Extraction', 'Reconcile', 'Storage']),
  id: uuidSchema,
  created_at: dateTimeSchema,
  settings: anyObjectSchema,
}
export const tableSchema: Schema = Type.Object(tableProperties, { title: 'Table' })

/** interface, "POST /projects/{project_name}/tables". */
export interface NewTableBody {
  readonly name: string
  readonly type?: string
  readonly id?: string
  readonly created_at?: string
  readonly settings?: Readonly<Record<string, unknown>>
}
export const newTableSchema: Schema = Type.Object(
  {
    name: tableNameSchema,
    type: Type.Optional(Type.String({ description: 'The same as settings.type.' })),
    id: Type.Optional(uuidSchema),
    created_at: Type.Optional(dateTimeSchema),
    settings: Type.Optional(
      Type.Object(
        {
          type: Type.Optional(
            Type.String({ description: 'extraction, reconcile or storage; extraction where absent.' }),
          ),
          schema: Type.Optional({
            description:
              'The data schema: name, fields, description, order. Inferred from forwarded rows where absent.',
          }),
        },
        { additionalProperties: true },
      ),
    ),
  },
  { title: 'NewTable' },
)

/** interface, "POST /projects/{project_name}/tables/storage". */
export interface StorageBody {
  readonly name: string
  readonly document: DocumentBody
}
export const storageSchema: Schema = Type.Object(
  { name: tableNameSchema, document: documentSchema },
  { title: 'StorageUpload' },
)

/** The interface does not show this response: here the fields of the table, and those of a forward. */
export interface StoredBody extends TableBody, ForwardedBody {}

/** interface, "Table schema", in an object `{schema}`. */
export interface WrappedSchemaBody {
  readonly schema: TableSchemaBody
}
export const wrappedSchemaSchema: Schema = Type.Object(
  {
    schema: Type.Object({
      name: Type.String(),
      fields: anyObjectSchema,
      id: Type.String(),
      description: Type.String(),
      order: Type.Array(Type.String()),
    }),
  },
  { title: 'TableSchema' },
)

/** interface, "Reconcile input". Each field is optional, but one of them must hold something. */
export interface ReconcileBody {
  readonly data?: Readonly<Record<string, unknown>>
  readonly files?: readonly { readonly id: string }[]
}
export const reconcileSchema: Schema = Type.Object(
  {
    data: Type.Optional(
      Type.Object({}, { additionalProperties: true, description: 'Single values or arrays of values.' }),
    ),
    files: Type.Optional(
      Type.Array(Type.Object({ id: uuidSchema }), {
        maxItems: 100,
        description: 'CSV, JSON or XLSX documents of storage tables.',
      }),
    ),
  },
  { title: 'ReconcileInput' },
)

/** interface, "Reconcile result". `review_date` is absent until someone reviews. */
export interface ReconcileResultBody {
  readonly data: Readonly<Record<string, unknown>>
  readonly created_at: string
  readonly row_id: string
  readonly reasoning: string
  readonly review: {
    readonly comment: string
    readonly reviewed_by: string
    readonly review_date?: string
    readonly approved: boolean
  }
  readonly status: 'running' | 'done' | 'error' | 'pending'
  readonly input: ReconcileBody
}
export const reconcileResultSchema: Schema = Type.Object(
  {
    data: anyObjectSchema,
    created_at: dateTimeSchema,
    row_id: uuidSchema,
    reasoning: Type.String(),
    review: Type.Object({
      comment: Type.String(),
      reviewed_by: Type.String(),
      review_date: Type.Optional(dateTimeSchema),
      approved: Type.Boolean(),
    }),
    status: Type.Enum(['running', 'done', 'error', 'pending']),
    input: reconcileSchema,
  },
  { title: 'ReconcileResult' },
)

export const taskSchema: Schema = Type.Object({ task_id: uuidSchema }, { title: 'Task' })

/** interface, "POST …/{table_id}/forward". */
export interface ForwardBody {
  readonly type: 'data'
  readonly data: readonly {
    readonly asset_name?: string
    readonly row_data: Readonly<Record<string, unknown>>
  }[]
}
export const forwardSchema: Schema = Type.Object(
  {
    type: Type.Literal('data'),
    data: Type.Array(
      Type.Object({
        asset_name: Type.Optional(Type.String({ description: 'row N where absent or empty.' })),
        row_data: anyObjectSchema,
      }),
      {
        minItems: 1,
      },
    ),
  },
  { title: 'Forward' },
)

export interface ForwardedBody {
  readonly assets_created: number
  readonly asset_ids: readonly string[]
  readonly message: string
}
const forwardedProperties = {
  assets_created: Type.Integer(),
  asset_ids: Type.Array(uuidSchema),
  message: Type.String(),
}
export const forwardedSchema: Schema = Type.Object(forwardedProperties, { title: 'Forwarded' })
export const storedSchema: Schema = Type.Object(
  { ...tableProperties, ...forwardedProperties },
  { title: 'Stored' },
)

export const tableParamsSchema: Schema = Type.Object({
  project_name: Type.String(),
  table_id: Type.String(),
})
