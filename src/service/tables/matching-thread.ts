// A thread that parses documents and matches: whatever it takes, the service's own thread goes on serving.

import { workerData } from 'piscina'
import { RowsError, TooManyRowsError } from '../../rows/row.ts'
import { parseRows } from '../../rows/rows.ts'
import { type RowsFile, blankData, maxItems, reconcile } from '../reconcile/reconcile.ts'
import { openReader } from '../store/open-store.ts'
import { AssetIndexes } from './asset-indexes.ts'
import { tablesStore } from './database.ts'
import type { DocumentBytes, MatchingAnswer, MatchingTask } from './matching-task.ts'

const indexes = new AssetIndexes(tablesStore(openReader((workerData as { dataDir: string }).dataDir)))

/** Run by the pool of `matching.ts`. */
export async function match({ tableId, assetCount, data, documents }: MatchingTask): Promise<MatchingAnswer> {
  try {
    const files = rowsOf(documents)
    const result = reconcile({ data, files }, await indexes.get(tableId, assetCount))
    return { kind: 'done', data: result.data, reasoning: result.reasoning }
  } catch (error) {
    if (error instanceof TooManyRowsError) return { kind: 'too many', message: error.message }
    if (error instanceof RangeError) return { kind: 'too many', message: error.message }
    if (!(error instanceof RowsError)) throw error
    return { kind: 'unreadable', data: blankData(data), reasoning: `Not reconciled: ${error.message}.` }
  }
}

function rowsOf(documents: readonly DocumentBytes[]): RowsFile[] {
  let left = maxItems
  return documents.map(({ name, format, bytes }) => {
    try {
      const rows = parseRows(bytes, format, left)
      left -= rows.length
      return { name, rows }
    } catch (error) {
      if (error instanceof TooManyRowsError)
        throw new RangeError(`${name}: one run matches at most ${maxItems} items: send several smaller ones`)
      if (error instanceof RowsError) throw new RowsError(`${name}: ${error.message}`, { cause: error })
      throw error
    }
  })
}
