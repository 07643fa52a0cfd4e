// forward/: the rows of a dropped file become assets of the table, in batches, each row once.

import { isOutcomeUnknown } from '../api/errors.ts'
import { forwardBatchRows } from '../api/forward-items.ts'
import { forwardResultToWire } from '../api/table-to-wire.ts'
import type { Tables } from '../api/table-types.ts'
import { ErrnoError } from '../errno-error.ts'
import { RowsError } from '../rows/row.ts'
import { rowFormatOfName } from '../rows/row-format.ts'
import type { DroppedFile, DropTarget, RowsIn, Verdict } from './drop-target.ts'
import { failureWords } from './failure-words.ts'
import { openRows, type FileRows } from './file-rows.ts'

export interface ForwardTargetOptions {
  readonly tables: Tables
  readonly tableId: string
  /** Told when the table has new rows. */
  readonly onForwarded: () => void
}

/** How far one file came, in all the times it was given. */
interface Progress {
  done: number
  readonly assetIds: string[]
  /** The service's own words for the last batch. */
  message: string
}

export function forwardTarget(options: ForwardTargetOptions): DropTarget {
  /** Files that went in partly, by name: dropped again, they go on where they stopped. */
  const unfinished = new Map<string, RowsIn>()

  async function take(file: DroppedFile, signal: AbortSignal): Promise<Verdict> {
    const progress: Progress = { done: 0, assetIds: [], message: '' }
    let rows: FileRows | undefined
    try {
      rows = await openRows(file, signal)
      const before = await rowsAlreadyIn(rows, file, unfinished.get(file.name))
      progress.done = before?.count ?? 0
      progress.assetIds.push(...(before?.assetIds ?? []))
      await forwardFrom(options, progress, rows, signal)
      unfinished.delete(file.name)
      return { answer: answerOf(progress), rowsIn: await rowsInOf(rows, progress) }
    } catch (error) {
      const rowsIn = progress.done === 0 || rows === undefined ? undefined : await rowsInOf(rows, progress)
      if (rowsIn !== undefined) unfinished.set(file.name, rowsIn)
      return { ...failed(error, progress, rows?.count ?? 0), rowsIn: rowsIn ?? file.rowsIn }
    } finally {
      rows?.close()
    }
  }

  return {
    wanted: 'a .csv, .json or .xlsx file',
    takes: (name) => rowFormatOfName(name) !== undefined,
    take,
  }
}

/**
 * What the table has of the rows. A file that grew since it was closed sends what is new: a shell closes what several
 * programs write to once per program. Throws EINVAL when rows that were sent have changed.
 */
async function rowsAlreadyIn(
  rows: FileRows,
  { rowsIn }: DroppedFile,
  left: RowsIn | undefined,
): Promise<RowsIn | undefined> {
  if (rowsIn === undefined) return left !== undefined && (await begins(rows, left)) ? left : undefined
  if (await begins(rows, rowsIn)) return rowsIn
  const sent = rowsIn.count === 1 ? 'its first row was' : `its first ${rowsIn.count} rows were`
  throw new ErrnoError('EINVAL', `${sent} forwarded and changed since; drop it as a new file`)
}

async function begins(rows: FileRows, { count, digest }: RowsIn): Promise<boolean> {
  return rows.count >= count && (await rows.digestOfFirst(count)) === digest
}

async function rowsInOf(rows: FileRows, { done, assetIds }: Progress): Promise<RowsIn> {
  return { count: done, digest: await rows.digestOfFirst(done), assetIds }
}

async function forwardFrom(
  { tables, tableId, onForwarded }: ForwardTargetOptions,
  progress: Progress,
  rows: FileRows,
  signal: AbortSignal,
): Promise<void> {
  while (progress.done < rows.count) {
    const batch = await rows.items(progress.done, progress.done + forwardBatchRows)
    const { assetIds, message } = await tables.forward(tableId, batch, { signal })
    progress.assetIds.push(...assetIds)
    progress.message = message
    progress.done += batch.length
    onForwarded()
  }
}

function answerOf({ assetIds, message }: Progress): object {
  const isOneBatch = assetIds.length <= forwardBatchRows && message !== ''
  const told = isOneBatch ? message : `${assetIds.length} assets created`
  return forwardResultToWire({ assetsCreated: assetIds.length, assetIds, message: told })
}

function failed(error: unknown, { done, assetIds }: Progress, total: number): Omit<Verdict, 'rowsIn'> {
  const words = failureWords(error)
  const isOfFile = error instanceof RowsError || error instanceof ErrnoError
  const errorMessage = [words, ...(isOfFile ? [] : advice(error, done, total))].join('; ')
  return {
    answer: {
      errorMessage,
      ...(assetIds.length === 0 ? {} : { assets_created: assetIds.length, asset_ids: assetIds }),
    },
    failure:
      isOfFile || !(error instanceof Error) ? new ErrnoError('EINVAL', words, { cause: error }) : error,
  }
}

/** Nothing is ever sent twice by itself; whoever drops the file again must know what that does. */
function advice(error: unknown, done: number, total: number): string[] {
  const next = `rows ${done + 1} to ${Math.min(done + forwardBatchRows, total)}`
  return [
    ...(done === 0
      ? []
      : [`${done} of ${total} rows are in: the same file dropped again goes on behind them`]),
    ...(isOutcomeUnknown(error) ? [`whether ${next} are in is not known`] : []),
  ]
}
