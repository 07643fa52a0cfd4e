// Tables and reconciliation results in the service's field names, for output as JSON. The opposite of table-wire.ts.

import type { ForwardResult, ReconcileResult, Table, TableSchema } from './table-types.ts'

/** interface, "Table". */
export function tableToWire({ name, type, id, createdAt, settings }: Table): object {
  return { name, type, id, created_at: createdAt, settings }
}

/** interface, "Table schema", without the `schema` it is wrapped in. */
export function schemaToWire({ name, fields, id, description, order }: TableSchema): object {
  return { name, fields, id, description, order }
}

/** interface, "Reconcile result". */
export function reconcileResultToWire(result: ReconcileResult): object {
  const { data, createdAt, rowId, reasoning, review, status, input } = result
  return {
    data,
    created_at: createdAt,
    row_id: rowId,
    reasoning,
    review: review && {
      comment: review.comment,
      reviewed_by: review.reviewedBy,
      review_date: review.reviewDate,
      approved: review.approved,
    },
    status,
    input,
  }
}

/** interface, "POST …/forward". */
export function forwardResultToWire({ assetsCreated, assetIds, message }: ForwardResult): object {
  return { assets_created: assetsCreated, asset_ids: assetIds, message }
}
