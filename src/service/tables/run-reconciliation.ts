// One synchronous reconciliation: documents, the engine (in a process of its own), the record. A document that cannot
// be read ends the run with status `error` and the reason, and so does a process that dies; a request that makes no
// sense, or asks for too much, is refused.

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

/** Runs the matching and records the result; keys take turns, so that none holds up the others. Resolves to the JSON of the result. Throws ServiceError 400 as `checkedDocuments`, 413 for more than a run may take, 507 beyond the quota. */
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

/** The documents `files` names, each once. Throws ServiceError 400 for an unknown one, or when there is nothing to reconcile. */
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

/** Reason of a run that is recorded as failed; undefined for an error that refuses the request. */
function reasonOf(error: unknown): string | undefined {
  if (error instanceof RowsError) return error.message
  if (error instanceof ProcessEndedError)
    return 'the process that should have done it ended, or could not begin; the log of the service says why'
  return undefined
}
