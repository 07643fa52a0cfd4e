// The thread that parses one large file of rows: it sends their number, and then answers questions about them.

import { parentPort, workerData } from 'node:worker_threads'
import { RowsError } from '../rows/row.ts'
import { readRows, type FileOfRows, type RowsAnswer, type RowsQuestion } from './file-rows.ts'

const send = (answer: RowsAnswer): void => parentPort?.postMessage(answer, [])

try {
  const rows = readRows(workerData as FileOfRows)
  parentPort?.on('message', (question: RowsQuestion) => {
    const value =
      'items' in question ? rows.items(...question.items) : rows.digestOfFirst(question.digestOfFirst)
    send({ value })
  })
  send({ value: rows.count })
} catch (error) {
  send({ error: (error as Error).message, isOfFile: error instanceof RowsError })
}
