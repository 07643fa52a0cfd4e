// The thread that reads one large file of rows: says how many there are, and then what it is asked of them.

import { parentPort, workerData } from 'node:worker_threads'
import { RowsError } from '../rows/row.ts'
import { readRows, type FileOfRows, type RowsAnswer, type RowsQuestion } from './file-rows.ts'

const say = (answer: RowsAnswer): void => parentPort?.postMessage(answer, [])

try {
  const rows = readRows(workerData as FileOfRows)
  parentPort?.on('message', (question: RowsQuestion) => {
    const value =
      'items' in question ? rows.items(...question.items) : rows.digestOfFirst(question.digestOfFirst)
    say({ value })
  })
  say({ value: rows.count })
} catch (error) {
  say({ error: (error as Error).message, isOfFile: error instanceof RowsError })
}
