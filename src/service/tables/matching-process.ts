// A thread that parses documents and matches: whatever it takes, the service's own thread goes on serving.

import { parentPort, workerData } from 'node:worker_threads'
import { RowsError, TooManyRowsError } from '../../rows/row.ts'
import { parseRows } from '../../rows/rows.ts'
import { blankData } from '../reconcile/input-shape.ts'
import { type RowsFile, maxItems, reconcile } from '../reconcile/reconcile.ts'
import { carry } from '../store/carried-error.ts'
import { openReader } from '../store/open-store.ts'
import type { StorePlace } from '../store/opened-store.ts'
import { answerText } from './answer-text.ts'
import { AssetIndexes } from './asset-indexes.ts'
import { tablesStore } from './database.ts'
import type { DocumentBytes, MatchingAnswer, MatchingTask } from './matching-task.ts'
import type { TaskAnswer } from './task-threads.ts'

const tooDeep = 'a value is nested too deeply to be compared'
const indexes = new AssetIndexes(tablesStore(await openReader((workerData as { place: StorePlace }).place)))

parentPort!.on('message', (task: MatchingTask) => {
  void answerTo(task).then((answer) => parentPort!.postMessage(answer, []))
})

async function answerTo(task: MatchingTask): Promise<TaskAnswer<MatchingAnswer>> {
  try {
    return { result: await match(task) }
  } catch (error) {
    return { error: carry(error) }
  }
}

async function match({ tableId, assetCount, data, documents }: MatchingTask): Promise<MatchingAnswer> {
  try {
    const files = rowsOf(documents)
    const result = reconcile({ data, files }, await indexes.get(tableId, assetCount))
    return { kind: 'done', data: answerText(result.data), reasoning: result.reasoning }
  } catch (error) {
    if (error instanceof TooManyRowsError) return { kind: 'too many', message: error.message }
    if (error instanceof RangeError)
      return { kind: 'too many', message: isStackFull(error) ? tooDeep : error.message }
    if (!(error instanceof RowsError)) throw error
    return {
      kind: 'unreadable',
      data: answerText(blankData(data)),
      reasoning: `Not reconciled: ${error.message}.`,
    }
  }
}

/** What V8 throws where something that looks into values reaches the end of its stack. */
function isStackFull({ message }: RangeError): boolean {
  return message.startsWith('Maximum call stack')
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
