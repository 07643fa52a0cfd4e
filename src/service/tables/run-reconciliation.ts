// One synchronous reconciliation: documents into rows, the engine, the record. What cannot be read ends the run with status
// `error` and says why; only a request that makes no sense is refused.

import { RowsError } from '../../rows/row.ts'
import type { ServiceContext } from '../context.ts'
import type { AssetIndex } from '../reconcile/asset-index.ts'
import { blankData, reconcile } from '../reconcile/reconcile.ts'
import { ServiceError } from '../service-error.ts'
import type { AssetIndexes } from './asset-indexes.ts'
import { type DocumentRow, type TableRow, tablesStore } from './database.ts'
import { readDocumentRows } from './document-rows.ts'
import { findDocument } from './documents-store.ts'
import { addRun } from './runs-store.ts'
import type { ReconcileBody, ReconcileResultBody } from './schemas.ts'

type Outcome = Pick<ReconcileResultBody, 'status' | 'data' | 'reasoning'> & {
  readonly status: 'done' | 'error'
}

/** Runs to the end and records the result. Throws ServiceError 400 as `checkedDocuments`. */
export async function runReconciliation(
  context: ServiceContext,
  indexes: AssetIndexes,
  table: TableRow,
  input: ReconcileBody,
): Promise<ReconcileResultBody> {
  const createdAt = context.now()
  const documents = await checkedDocuments(context, table.project_id, input)
  const outcome = await outcomeOf(context, await indexes.get(table), documents, input)
  const rowId = await addRun(tablesStore(context.store), { tableId: table.id, createdAt, input, ...outcome })
  return {
    ...outcome,
    created_at: new Date(createdAt).toISOString(),
    row_id: rowId,
    review: { comment: '', reviewed_by: '', approved: false },
    input,
  }
}

/** The documents `files` names. Throws ServiceError 400 for an unknown one, or when there is nothing to reconcile. */
export async function checkedDocuments(
  context: ServiceContext,
  projectId: string,
  input: ReconcileBody,
): Promise<DocumentRow[]> {
  const { data = {}, files = [] } = input
  if (Object.keys(data).length === 0 && files.length === 0) {
    throw new ServiceError(400, 'nothing to reconcile: give data, files or both')
  }
  const documents: DocumentRow[] = []
  for (const { id } of files) {
    const document = await findDocument(tablesStore(context.store), projectId, id)
    if (document === undefined)
      throw new ServiceError(400, `files: no storage table of this project holds ${id}`)
    documents.push(document)
  }
  return documents
}

async function outcomeOf(
  context: ServiceContext,
  index: AssetIndex,
  documents: readonly DocumentRow[],
  { data = {} }: ReconcileBody,
): Promise<Outcome> {
  try {
    const files = []
    for (const document of documents) files.push(await readDocumentRows(context, document))
    const result = reconcile({ data, files }, index)
    return { status: 'done', data: result.data, reasoning: result.reasoning }
  } catch (error) {
    if (!(error instanceof RowsError) && !(error instanceof RangeError)) throw error
    return { status: 'error', data: blankData(data), reasoning: `Not reconciled: ${error.message}.` }
  }
}
