// One synchronous reconciliation: finds the documents, matches in a process of its own, records the run. If a document cannot be
// read, or the process dies, the run is recorded with status `error` and the reason; an invalid or too large request is refused.

import type { FastifyRequest } from 'fastify'
import { RowsError } from '../../rows/row.ts'
import type { ServiceContext } from '../context.ts'
import { blankData } from '../reconcile/input-shape.ts'
import { ServiceError } from '../service-error.ts'
import { type DocumentRow, type TableRow, tablesStore } from './database.ts'
import { loadDocuments } from './document-bytes.ts'
import { findDocument } from './documents-store.ts'
import type { MatchingAnswer } from './matching-task.ts'
import { addRun } from './runs-store.ts'
import type { ReconcileBody, ReconcileResultBody } from './schemas.ts'
import { ProcessEndedError } from './task-processes.ts'

interface Outcome {
  readonly status: 'done' | 'error'
  /** JSON. */
  readonly data: string
  readonly reasoning: string
}

/** Matches, and records the run. Resolves to the JSON of the result. Throws ServiceError 400 as `checkedDocuments`, 413 and 503 as
 * `Matching.run`, 507 beyond the quota. */
export async function runReconciliation(
  context: ServiceContext,
  table: TableRow,
  input: ReconcileBody,
  { keyId = '', limits }: Pick<FastifyRequest, 'keyId' | 'limits'>,
): Promise<string> {
  const createdAt = context.now()
  const documents = await checkedDocuments(context, table.project_id, input)
  const outcome = await outcomeOf(context, table, documents, input, keyId)
  const rowId = await addRun(tablesStore(context.store), { table, createdAt, input, ...outcome }, limits)
  const { status, data, reasoning } = outcome
  const rest: Omit<ReconcileResultBody, 'data'> = {
    status,
    reasoning,
    created_at: new Date(createdAt).toISOString(),
    row_id: rowId,
    review: { comment: '', reviewed_by: '', approved: false },
    input,
  }
  return `{"data":${data},${JSON.stringify(rest).slice(1)}`
}

/** Returns the documents that `files` names, each once. Throws ServiceError 400 for an unknown one, or without data and files. */
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
  for (const id of new Set(files.map((file) => file.id.toLowerCase()))) {
    const document = await findDocument(tablesStore(context.store), projectId, id)
    if (document === undefined)
      throw new ServiceError(400, `files: no storage table of this project holds ${id}`)
    documents.push(document)
  }
  return documents
}

async function outcomeOf(
  context: ServiceContext,
  table: TableRow,
  documents: readonly DocumentRow[],
  { data = {} }: ReconcileBody,
  keyId: string,
): Promise<Outcome> {
  let answer: MatchingAnswer
  try {
    const task = { tableId: table.id, assetCount: table.asset_count, data }
    answer = await context.matching.run(keyId, task, () => loadDocuments(context, documents))
  } catch (error) {
    const reason = reasonOf(error)
    if (reason === undefined) throw error
    return {
      status: 'error',
      data: JSON.stringify(blankData(data)),
      reasoning: `Not reconciled: ${reason}.`,
    }
  }
  if (answer.kind === 'too many') throw new ServiceError(413, answer.message)
  return {
    status: answer.kind === 'done' ? 'done' : 'error',
    data: answer.data,
    reasoning: answer.reasoning,
  }
}

/** The reason for an error that is recorded as a failed run; undefined for an error that refuses the request. */
function reasonOf(error: unknown): string | undefined {
  if (error instanceof RowsError) return error.message
  if (error instanceof ProcessEndedError)
    return 'the process that should have done it ended, or could not begin; the log of the service says why'
  return undefined
}
