// Conversion of the service's tables and reconciliation results into our types; see wire.ts for the rules.

import type { CallDescription } from './errors.ts'
import type { ForwardResult, ReconcileResult, Table, TableSchema } from './table-types.ts'
import { arrayOf, objectOf, optional, optionalObject, required, stringsOf } from './wire.ts'

/** interface, "GET /projects/{project_name}/tables". */
export function tablesFromWire(call: CallDescription, value: unknown): Table[] {
  return arrayOf(call, value, 'tables').map((item) => tableFromWire(call, item))
}

/** interface, "Table". */
export function tableFromWire(call: CallDescription, value: unknown): Table {
  const fields = objectOf(call, value, 'a table')
  return {
    name: optional(call, fields, 'name', 'string'),
    type: optional(call, fields, 'type', 'string'),
    id: optional(call, fields, 'id', 'string'),
    createdAt: optional(call, fields, 'created_at', 'string'),
    settings: optionalObject(call, fields, 'settings'),
  }
}

/** interface, "Table schema": wrapped in `schema`. */
export function schemaFromWire(call: CallDescription, value: unknown): TableSchema {
  const fields = objectOf(call, objectOf(call, value, 'the answer')['schema'], 'schema')
  const order = fields['order']
  return {
    name: optional(call, fields, 'name', 'string'),
    fields: optionalObject(call, fields, 'fields'),
    id: optional(call, fields, 'id', 'string'),
    description: optional(call, fields, 'description', 'string'),
    order: order === undefined || order === null ? undefined : stringsOf(call, order, 'order'),
  }
}

/** interface, "Reconcile result". */
export function reconcileResultFromWire(call: CallDescription, value: unknown): ReconcileResult {
  const fields = objectOf(call, value, 'a reconcile result')
  const review = optionalObject(call, fields, 'review')
  return {
    data: optionalObject(call, fields, 'data'),
    createdAt: optional(call, fields, 'created_at', 'string'),
    rowId: optional(call, fields, 'row_id', 'string'),
    reasoning: optional(call, fields, 'reasoning', 'string'),
    review: review && {
      comment: optional(call, review, 'comment', 'string'),
      reviewedBy: optional(call, review, 'reviewed_by', 'string'),
      reviewDate: optional(call, review, 'review_date', 'string'),
      approved: optional(call, review, 'approved', 'boolean'),
    },
    status: optional(call, fields, 'status', 'string'),
    input: fields['input'],
  }
}

/** interface, "POST …/tasks". */
export function taskIdFromWire(call: CallDescription, value: unknown): string {
  return required(call, objectOf(call, value, 'a task'), 'task_id', 'string')
}

/** interface, "POST …/forward". */
export function forwardResultFromWire(call: CallDescription, value: unknown): ForwardResult {
  const fields = objectOf(call, value, 'a forward result')
  return {
    assetsCreated: required(call, fields, 'assets_created', 'number'),
    assetIds: stringsOf(call, fields['asset_ids'], 'asset_ids'),
    message: required(call, fields, 'message', 'string'),
  }
}
