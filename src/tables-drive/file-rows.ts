// The rows of one dropped file, ready to be sent: read at once where they are few, else by a thread of their own, which
// keeps them, so that a large file never stops the drive.

import { createHash } from 'node:crypto'
import { Worker } from 'node:worker_threads'
import { forwardItemsOf } from '../api/forward-items.ts'
import type { ForwardItem } from '../api/table-types.ts'
import { RowsError, type Row } from '../rows/row.ts'
import { rowFormatOfName } from '../rows/row-format.ts'
import { parseRows } from '../rows/rows.ts'
import { siblingFile } from '../sibling-file.ts'

/** Some ten milliseconds' work, less than a thread takes to begin. */
const readAtOnceBytes = 256 * 1024

export interface FileOfRows {
  readonly name: string
  readonly bytes: Uint8Array
  /** The column that names the assets; where absent, one that is usually called so. */
  readonly nameColumn?: string | undefined
}

/** Questions to the thread, and its answers, one at a time. */
export type RowsQuestion = { readonly digestOfFirst: number } | { readonly items: readonly [number, number] }
export type RowsAnswer = { readonly value: unknown } | { readonly error: string; readonly isOfFile: boolean }

export interface FileRows {
  readonly count: number
  /** Tells whether the first rows are those of another time. */
  digestOfFirst(count: number): string | Promise<string>
  items(from: number, to: number): readonly ForwardItem[] | Promise<readonly ForwardItem[]>
  /** The rows are of no more use. */
  close(): void
}

/** Throws RowsError where the file is not rows, or holds none; the signal's reason. */
export async function openRows(file: FileOfRows, signal: AbortSignal): Promise<FileRows> {
  return file.bytes.length <= readAtOnceBytes ? readRows(file) : readElsewhere(file, signal)
}

/** Throws RowsError where the file is not rows, holds none, or has no column of the name asked for. */
export function readRows({ name, bytes, nameColumn }: FileOfRows): FileRows {
  const format = rowFormatOfName(name)
  if (format === undefined) throw new RowsError('not a file of rows')
  const rows = parseRows(bytes, format)
  if (rows.length === 0) throw new RowsError('the file holds no rows')
  if (nameColumn !== undefined) checkColumn(rows, nameColumn)
  const items = forwardItemsOf(rows, name, nameColumn)
  // Asked for after each batch: goes on from where it was.
  let hash = createHash('sha256')
  let hashed = 0
  return {
    count: rows.length,
    digestOfFirst(count) {
      if (count < hashed) {
        hash = createHash('sha256')
        hashed = 0
      }
      for (const row of rows.slice(hashed, count)) hash.update(`${JSON.stringify(row)}\n`)
      hashed = count
      return hash.copy().digest('hex')
    },
    items: (from, to) => items.slice(from, to),
    close: () => {},
  }
}

function checkColumn(rows: readonly Row[], asked: string): void {
  if (rows.some((row) => Object.hasOwn(row, asked))) return
  const columns = new Set(rows.flatMap((row) => Object.keys(row)))
  throw new RowsError(`it has no column "${asked}"; it has ${[...columns].join(', ')}`)
}

async function readElsewhere(file: FileOfRows, signal: AbortSignal): Promise<FileRows> {
  signal.throwIfAborted()
  const worker = new Worker(siblingFile(import.meta.url, 'rows-thread'), { workerData: file, name: 'rows' })
  const close = (): void => void worker.terminate()
  const ask = async (question: RowsQuestion): Promise<unknown> => {
    const answer = answerOf(worker)
    worker.postMessage(question, [])
    return answer
  }
  // Only while they are read: how far a file came is asked of its rows also when its sending is given up.
  signal.addEventListener('abort', close)
  try {
    const count = (await answerOf(worker)) as number
    return {
      count,
      digestOfFirst: async (count) => (await ask({ digestOfFirst: count })) as string,
      items: async (from, to) => (await ask({ items: [from, to] })) as readonly ForwardItem[],
      close,
    }
  } catch (error) {
    close()
    throw signal.aborted ? signal.reason : error
  } finally {
    signal.removeEventListener('abort', close)
  }
}

/** The next thing the thread says. */
function answerOf(worker: Worker): Promise<unknown> {
  return new Promise((resolve, reject) => {
    const over = (): void => {
      worker.off('message', onMessage).off('error', onError).off('exit', onExit)
    }
    const onMessage = (answer: RowsAnswer): void => {
      over()
      if ('value' in answer) resolve(answer.value)
      else reject(answer.isOfFile ? new RowsError(answer.error) : new Error(answer.error))
    }
    const onError = (error: Error): void => {
      over()
      reject(error)
    }
    const onExit = (): void => onError(new Error('the thread that reads the rows has ended'))
    worker.on('message', onMessage).on('error', onError).on('exit', onExit)
  })
}
