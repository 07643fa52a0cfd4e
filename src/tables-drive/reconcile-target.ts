// The target of reconcile/: matches a dropped file against the table. The result of a JSON object is that of the run; the result of
// a CSV or XLSX file has the same rows, with columns for the match of each.

import { reconcileResultToWire } from '../api/table-to-wire.ts'
import type { ReconcileInput, Tables } from '../api/table-types.ts'
import { ErrnoError } from '../errno-error.ts'
import { RowsError, type Row } from '../rows/row.ts'
import { rowFormatOfName } from '../rows/row-format.ts'
import { decodeText } from '../rows/text.ts'
import type { DroppedFile, DropTarget } from './drop-target.ts'
import type { ReconcileRun } from './reconcile-run.ts'
import { failureWords } from './failure-words.ts'
import { openRows } from './file-rows.ts'
import { inputOfRows, matchedRows, textOfMatched } from './reconcile-rows.ts'

export function reconcileTarget(
  tables: Tables,
  tableId: string,
  onRun: (run: Pick<ReconcileRun, 'file' | 'status' | 'reasoning'>) => void,
): DropTarget {
  return {
    wanted: 'a .json, .csv or .xlsx file',
    takes: (name) => rowFormatOfName(name) !== undefined,
    async take(file, signal) {
      try {
        const rows = rowFormatOfName(file.name) === 'json' ? undefined : await rowsOf(file, signal)
        const input = rows === undefined ? inputOf(file) : inputOfRows({ rows })
        const result = await tables.reconcile(tableId, input, { signal })
        onRun({ file: file.name, status: result.status ?? 'done', reasoning: result.reasoning ?? '' })
        const isTable = rows !== undefined && result.status !== 'error'
        const answer = isTable ? textOfMatched(matchedRows({ rows }, result)) : reconcileResultToWire(result)
        if (result.status !== 'error') return { answer }
        return { answer, failure: new ErrnoError('EIO', result.reasoning ?? 'the run failed') }
      } catch (error) {
        const errorMessage = failureWords(error)
        onRun({ file: file.name, status: 'failed', reasoning: errorMessage })
        const isOfFile = error instanceof RowsError
        const failure = isOfFile ? new ErrnoError('EINVAL', errorMessage, { cause: error }) : (error as Error)
        return { answer: { errorMessage }, failure }
      }
    },
  }
}

/** Throws RowsError. */
async function rowsOf(file: DroppedFile, signal: AbortSignal): Promise<Row[]> {
  const rows = await openRows(file, signal)
  try {
    return (await rows.items(0, rows.count)).map(({ rowData }) => rowData)
  } finally {
    rows.close()
  }
}

/**
 * Accepts a Reconcile input of the interface (`data`, `files` or both, and no other field), or only the object of `data`.
 * Throws EINVAL if the file is not a JSON object.
 */
function inputOf({ bytes }: DroppedFile): ReconcileInput {
  const value = parsed(decodeText(bytes))
  if (!isObject(value)) throw new ErrnoError('EINVAL', 'a file to reconcile holds one JSON object')
  return isReconcileInput(value) ? value : { data: value }
}

function isReconcileInput(value: Readonly<Record<string, unknown>>): value is ReconcileInput & typeof value {
  const { data, files, ...others } = value
  if (Object.keys(others).length > 0 || (data === undefined && files === undefined)) return false
  return (data === undefined || isObject(data)) && (files === undefined || isFiles(files))
}

function isFiles(value: unknown): boolean {
  return Array.isArray(value) && value.every((file) => isObject(file) && typeof file['id'] === 'string')
}

function isObject(value: unknown): value is Readonly<Record<string, unknown>> {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
}

function parsed(json: string): unknown {
  try {
    return JSON.parse(json)
  } catch (error) {
    throw new ErrnoError('EINVAL', 'not JSON', { cause: error })
  }
}
