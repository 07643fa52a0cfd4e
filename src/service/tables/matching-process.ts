// The process that parses documents and matches rows. The service goes on serving, even if this process crashes.

import { readSync } from 'node:fs'
import { RowsError, TooManyRowsError } from '../../rows/row.ts'
import { parseRows } from '../../rows/rows.ts'
import { blankData } from '../reconcile/input-shape.ts'
import { type RowsFile, maxItems, reconcile } from '../reconcile/reconcile.ts'
import { openReader } from '../store/open-store.ts'
import type { StorePlace } from '../store/opened-store.ts'
import { answerText } from './answer-text.ts'
import { AssetIndexes } from './asset-indexes.ts'
import { tablesStore } from './database.ts'
import type { DocumentBytes, MatchingAnswer, MatchingOrder, MatchingTask } from './matching-task.ts'
import { answerOf, serveTasks } from './serve-tasks.ts'

const tooDeep = 'a value is nested too deeply to be compared'
const standardInput = 0
let opened: Promise<AssetIndexes> | undefined

serveTasks(async ({ place, documents, ...task }: MatchingOrder) => {
  // Before anything can fail: bytes left in the pipe would be read as those of the next task.
  const read = documents.map(({ length, ...document }) => ({ ...document, bytes: readBytes(length) }))
  return answerOf(async () => {
    opened ??= openIndexes(place)
    return match({ ...task, documents: read }, await opened)
  })
})

/** Throws at the end of the pipe, when the service has ended. */
function readBytes(length: number): Uint8Array {
  const bytes = new Uint8Array(length)
  for (let at = 0; at < length;) {
    const count = readSync(standardInput, bytes, at, length - at, null)
    if (count === 0) throw new Error('the service has ended')
    at += count
  }
  return bytes
}

async function openIndexes(place: StorePlace): Promise<AssetIndexes> {
  return new AssetIndexes(tablesStore(await openReader(place)))
}

async function match(
  { tableId, assetCount, data, documents }: MatchingTask,
  indexes: AssetIndexes,
): Promise<MatchingAnswer> {
  try {
    const files = rowsOf(documents)
    const result = reconcile({ data, files }, await indexes.get(tableId, assetCount))
    return { kind: 'done', data: answerText(result.data), reasoning: result.reasoning }
  } catch (error) {
    if (error instanceof TooManyRowsError) return { kind: 'too many', message: error.message }
    if (error instanceof RangeError)
      return { kind: 'too many', message: isStackOverflow(error) ? tooDeep : error.message }
    if (!(error instanceof RowsError)) throw error
    return {
      kind: 'unreadable',
      data: answerText(blankData(data)),
      reasoning: `Not reconciled: ${error.message}.`,
    }
  }
}

/** True for the RangeError of a stack overflow, which comes from deeply nested values. */
function isStackOverflow({ message }: RangeError): boolean {
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
