// Types of tables and reconciliation in camel case (interface, "Table" to "Forward item"). The interface calls hardly any
// of these fields required: the others are optional or `unknown` here.

import type { CallOptions, Upload } from './types.ts'

/** interface, "Table". The only `type` it shows is `Extraction`. */
export interface Table {
  readonly name: string | undefined
  readonly type: string | undefined
  readonly id: string | undefined
  readonly createdAt: string | undefined
  readonly settings: Readonly<Record<string, unknown>> | undefined
}

/** A table to create. Defaults: a random id, the current time, no settings. */
export interface NewTable {
  readonly name: string
  readonly id?: string
  readonly createdAt?: string
  readonly settings?: Readonly<Record<string, unknown>>
}

/** A document for a storage table. */
export interface StorageUpload extends Upload {
  readonly zeroRetentionMode?: boolean
}

/** interface, "Table schema", which does not describe `fields` further. */
export interface TableSchema {
  readonly name: string | undefined
  readonly fields: Readonly<Record<string, unknown>> | undefined
  readonly id: string | undefined
  readonly description: string | undefined
  readonly order: readonly string[] | undefined
}

/** interface, "Reconcile input": single values or arrays of values by key, and files by id. */
export interface ReconcileInput {
  readonly data?: Readonly<Record<string, unknown>>
  readonly files?: readonly { readonly id: string }[]
}

/** interface, "Reconcile result". */
export interface ReconcileResult {
  readonly data: Readonly<Record<string, unknown>> | undefined
  readonly createdAt: string | undefined
  readonly rowId: string | undefined
  readonly reasoning: string | undefined
  readonly review: ReconcileReview | undefined
  /** `running`, `done`, `error` or `pending`. */
  readonly status: string | undefined
  /** The request's input, as the service repeated it. */
  readonly input: unknown
}

export interface ReconcileReview {
  readonly comment: string | undefined
  readonly reviewedBy: string | undefined
  readonly reviewDate: string | undefined
  readonly approved: boolean | undefined
}

/** interface, "Forward item". */
export interface ForwardItem {
  readonly assetName: string
  readonly rowData: Readonly<Record<string, unknown>>
}

/** interface, "POST …/forward": all three fields are required. */
export interface ForwardResult {
  readonly assetsCreated: number
  readonly assetIds: readonly string[]
  readonly message: string
}

/** The tables of one project. Calls that change something are only repeated if there was no connection, or after a 429. */
export interface Tables {
  readonly project: string
  /** Throws ApiError, NetworkError, as all methods here do. */
  list(options?: CallOptions): Promise<readonly Table[]>
  create(table: NewTable, options?: CallOptions): Promise<Table>
  /**
   * Creates a storage table that contains the document. Returns the service's response unchanged: the interface does not
   * describe it.
   */
  createStorage(name: string, document: StorageUpload, options?: CallOptions): Promise<unknown>
  schema(tableId: string, options?: CallOptions): Promise<TableSchema>
  /** Resolves when the run is complete. Default of `deadlineMs`: 10 minutes. */
  reconcile(tableId: string, input: ReconcileInput, options?: CallOptions): Promise<ReconcileResult>
  /** Creates a task without running it. Returns its id. */
  createTask(tableId: string, input: ReconcileInput, options?: CallOptions): Promise<string>
  /** Throws InputError for an empty list. */
  forward(tableId: string, items: readonly ForwardItem[], options?: CallOptions): Promise<ForwardResult>
}
