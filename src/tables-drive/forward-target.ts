// The target of forward/: the rows of a dropped file become assets of the table, in batches; the same content is sent only once.

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
import type { ForwardedContents } from './forwarded-contents.ts'
import { alreadyInWords, sendRows, type SentRows } from './send-rows.ts'

export interface ForwardTargetOptions {
  readonly tables: Tables
  readonly tableId: string
  /** Contents forwarded to the table before, also by other drives and commands. */
  readonly contents: ForwardedContents
  /** Wall clock, epoch ms. */
  readonly now: () => number
  /** Called when the table has new rows. */
  readonly onForwarded: () => void
}

export function forwardTarget(options: ForwardTargetOptions): DropTarget {
  const { tableId, contents, onForwarded } = options

  async function take(file: DroppedFile, signal: AbortSignal): Promise<Verdict> {
    const sent: SentRows = { done: 0, assetIds: [], message: '' }
    let rows: FileRows | undefined
    try {
      rows = await openRows(file, signal)
      // A new file is compared with all contents forwarded so far; one that sent rows before (`rowsSent`) with itself alone.
      const known =
        file.rowsSent === undefined ? await contents.find(tableId, { name: file.name, ...rows }) : undefined
      if (known?.rows === rows.count)
        return {
          answer: resultOf([], alreadyInWords(known)),
          rowsSent: await rowsInOf(rows, { ...sent, done: known.rows }),
        }
      sent.done = known?.rows ?? (await rowsAlreadyIn(rows, file))
      sent.assetIds.push(...(file.rowsSent?.assetIds ?? []))
      await sendRows({ ...options, onBatch: onForwarded }, file.name, rows, sent, signal)
      return { answer: answerOf(sent, known?.rows ?? 0), rowsSent: await rowsInOf(rows, sent) }
    } catch (error) {
      const rowsSent = sent.done === 0 || rows === undefined ? undefined : await rowsInOf(rows, sent)
      return { ...failed(error, sent, rows?.count ?? 0), rowsSent: rowsSent ?? file.rowsSent }
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
 * Returns how many rows of this file were sent at an earlier close. Only rows after them are sent then: if several programs of a
 * shell command write to a file, each closes it. Throws EINVAL if rows that were sent have changed.
 */
async function rowsAlreadyIn(rows: FileRows, { rowsSent }: DroppedFile): Promise<number> {
  if (rowsSent === undefined) return 0
  const { count, digest } = rowsSent
  if (rows.count >= count && (await rows.digestOfFirst(count)) === digest) return count
  const sent = count === 1 ? 'its first row was' : `its first ${count} rows were`
  throw new ErrnoError('EINVAL', `${sent} forwarded and changed since; drop it as a new file`)
}

async function rowsInOf(rows: FileRows, { done, assetIds }: SentRows): Promise<RowsIn> {
  return { count: done, digest: await rows.digestOfFirst(done), assetIds }
}

/** `before`: rows that an earlier, interrupted forward has sent. */
function answerOf({ assetIds, message }: SentRows, before: number): object {
  const isOneBatch = assetIds.length <= forwardBatchRows && message !== '' && before === 0
  const ownMessage = isOneBatch ? message : `${assetIds.length} assets created`
  return resultOf(
    assetIds,
    before === 0 ? ownMessage : `${ownMessage}; the first ${before} rows were in before`,
  )
}

function resultOf(assetIds: readonly string[], message: string): object {
  return forwardResultToWire({ assetsCreated: assetIds.length, assetIds, message })
}

function failed(error: unknown, { done, assetIds }: SentRows, total: number): Omit<Verdict, 'rowsSent'> {
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

/** Hints on the effect of dropping the file again: the drive never sends rows a second time automatically. */
function advice(error: unknown, done: number, total: number): string[] {
  const next = `rows ${done + 1} to ${Math.min(done + forwardBatchRows, total)}`
  return [
    ...(done === 0
      ? []
      : [`${done} of ${total} rows are in: the same file dropped again goes on behind them`]),
    ...(isOutcomeUnknown(error) ? [`whether ${next} are in is not known`] : []),
  ]
}
