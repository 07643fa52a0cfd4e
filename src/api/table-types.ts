// Tables and reconciliation in our own spelling (interface, "Table" to "Forward item"). The document says of hardly any
// of these fields that it is required: what it leaves open is optional or `unknown`, never invented.

import type { CallOptions, Upload } from './types.ts'

/** interface, "Table". Other values of `type` than `Extraction` are not shown. */
export interface Table {
  readonly name: string | undefined
  readonly type: string | undefined
  readonly id: string | undefined
  readonly createdAt: string | undefined
  readonly settings: Readonly<Record<string, unknown>> | undefined
}

/** The table that `create` sends. All four fields of the document are sent: absent ones are a fresh id, now, and `{}`. */
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

/** interface, "Table schema". The structure of `fields` is not shown. */
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
  /** Echo of the input, as the service sent it. */
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

/** All three fields are required by the document. */
export interface ForwardResult {
  readonly assetsCreated: number
  readonly assetIds: readonly string[]
  readonly message: string
}

/** The tables of one project. A call that changes something is not sent twice: only when no connection was had, or on 429. */
export interface Tables {
  readonly project: string
  /** Throws ApiError, NetworkError, as all of these. */
  list(options?: CallOptions): Promise<readonly Table[]>
  create(table: NewTable, options?: CallOptions): Promise<Table>
  /**
   * Makes a storage table of this name holding the document. The interface does not show the service's answer: it is
   * given as it came.
   */
  createStorage(name: string, document: StorageUpload, options?: CallOptions): Promise<unknown>
  schema(tableId: string, options?: CallOptions): Promise<TableSchema>
  /** Blocks until the run is complete: 10 minutes unless `deadlineMs` says otherwise. */
  reconcile(tableId: string, input: ReconcileInput, options?: CallOptions): Promise<ReconcileResult>
  /** A task that is not executed; the answer is its id. */
  createTask(tableId: string, input: ReconcileInput, options?: CallOptions): Promise<string>
  /** At least one item, else InputError. */
  forward(tableId: string, items: readonly ForwardItem[], options?: CallOptions): Promise<ForwardResult>
}
