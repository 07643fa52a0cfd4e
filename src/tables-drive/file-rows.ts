// The rows of one dropped file, ready to be sent. A small file is parsed here; a large one in a thread, which also stores the rows,
// so that it never blocks the drive.

import { createHash } from 'node:crypto'
import { Worker } from 'node:worker_threads'
import { forwardItemsOf } from '../api/forward-items.ts'
import type { ForwardItem } from '../api/table-types.ts'
import { RowsError, type Row } from '../rows/row.ts'
import { rowFormatOfName } from '../rows/row-format.ts'
import { parseRows } from '../rows/rows.ts'
import { siblingFile } from '../sibling-file.ts'

/** Parsing so much takes about ten milliseconds, less than the start of a thread. */
const parsedHereBytes = 256 * 1024

export interface FileOfRows {
  readonly name: string
  readonly bytes: Uint8Array
  /** The column with the names of the assets; default: one with a usual name (`forwardItemsOf`). */
  readonly nameColumn?: string | undefined
}

/** Messages to and from the thread; each question gets one answer before the next question. */
export type RowsQuestion = { readonly digestOfFirst: number } | { readonly items: readonly [number, number] }
/** `isOfFile`: the file is at fault (a RowsError), not the program. */
export type RowsAnswer = { readonly value: unknown } | { readonly error: string; readonly isOfFile: boolean }

export interface FileRows {
  readonly count: number
  /** SHA-256 of the JSON of the first `count` rows, which shows if they have changed. */
  digestOfFirst(count: number): string | Promise<string>
  /** The items of the rows from `from` to `to - 1`. */
  items(from: number, to: number): readonly ForwardItem[] | Promise<readonly ForwardItem[]>
  /** Ends the thread, if there is one. */
  close(): void
}

/** Throws RowsError as `readRows`, or the signal's reason. */
export async function openRows(file: FileOfRows, signal: AbortSignal): Promise<FileRows> {
  return file.bytes.length <= parsedHereBytes ? readRows(file) : readInThread(file, signal)
}

/** Throws RowsError if the file cannot be read into rows, has none, or has no column `nameColumn`. */
export function readRows({ name, bytes, nameColumn }: FileOfRows): FileRows {
  const format = rowFormatOfName(name)
  if (format === undefined) throw new RowsError('not a file of rows')
  const rows = parseRows(bytes, format)
  if (rows.length === 0) throw new RowsError('the file holds no rows')
  if (nameColumn !== undefined) checkColumn(rows, nameColumn)
  const items = forwardItemsOf(rows, name, nameColumn)
  // Asked for after each batch, so the hash continues after the rows hashed last.
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

function checkColumn(rows: readonly Row[], name: string): void {
  if (rows.some((row) => Object.hasOwn(row, name))) return
  const columns = new Set(rows.flatMap((row) => Object.keys(row)))
  throw new RowsError(`it has no column "${name}"; it has ${[...columns].join(', ')}`)
}

async function readInThread(file: FileOfRows, signal: AbortSignal): Promise<FileRows> {
  signal.throwIfAborted()
  const worker = new Worker(siblingFile(import.meta.url, 'rows-thread'), { workerData: file, name: 'rows' })
  const close = (): void => void worker.terminate()
  const ask = async (question: RowsQuestion): Promise<unknown> => {
    const answer = answerOf(worker)
    worker.postMessage(question, [])
    return answer
  }
  // Only while the rows are parsed: after an aborted send the digest of the sent rows is still needed.
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

/** The next answer of the thread. */
function answerOf(worker: Worker): Promise<unknown> {
  return new Promise((resolve, reject) => {
    const stopListening = (): void => {
      worker.off('message', onMessage).off('error', onError).off('exit', onExit)
    }
    const onMessage = (answer: RowsAnswer): void => {
      stopListening()
      if ('value' in answer) resolve(answer.value)
      else reject(answer.isOfFile ? new RowsError(answer.error) : new Error(answer.error))
    }
    const onError = (error: Error): void => {
      stopListening()
      reject(error)
    }
    const onExit = (): void => onError(new Error('the thread that reads the rows has ended'))
    worker.on('message', onMessage).on('error', onError).on('exit', onExit)
  })
}
