// What `docmount forward` does: reads rows, sends them in batches, says how far it came.

import { basename } from 'node:path'
import { isOutcomeUnknown } from '../api/errors.ts'
import { forwardItemsOf } from '../api/forward-items.ts'
import type { ForwardItem } from '../api/table-types.ts'
import { DaemonError } from '../daemon/daemon-error.ts'
import type { Row } from '../rows/row.ts'
import { rowFormatOfName } from '../rows/row-format.ts'
import { parseRows } from '../rows/rows.ts'
import { exitCodes } from './exit-codes.ts'
import { printJson } from './output.ts'
import { startProgress } from './progress.ts'
import { readLocal } from './read-local.ts'
import { exitCodeOf } from './report-error.ts'
import { UsageError } from './usage-error.ts'
import { type TableOptions, tableIdOf, withTables } from './with-tables.ts'

export interface ForwardOptions extends TableOptions {
  readonly nameColumn?: string
  readonly skip: number
  readonly batch: number
  readonly json?: boolean
  readonly quiet?: boolean
}

/** Throws UsageError for a file that holds no rows, DaemonError that says how many rows are in when a batch fails. */
export async function runForward(table: string, file: string, options: ForwardOptions): Promise<void> {
  const items = itemsOf(await readRows(file), basename(file), options.nameColumn)
  if (items.length <= options.skip)
    throw new UsageError(`${file} holds ${items.length} rows: nothing to forward`)
  const { batch } = options
  const assetIds: string[] = []
  let message = ''
  let done = options.skip
  await withTables(options, async (tables, signal) => {
    const id = await tableIdOf(tables, table, signal)
    const progress = startProgress(table, {
      total: items.length - done,
      format: (count) => `${count} rows`,
      isQuiet: options.quiet,
    })
    try {
      while (done < items.length) {
        const result = await tables.forward(id, items.slice(done, done + batch), { signal })
        assetIds.push(...result.assetIds)
        message = result.message
        progress.add(Math.min(batch, items.length - done))
        done = Math.min(done + batch, items.length)
      }
    } catch (error) {
      throw explained(error, { done, batch, total: items.length })
    } finally {
      progress.end()
    }
  })
  if (items.length - options.skip > batch) message = `${assetIds.length} assets created`
  if (options.json === true) printJson({ assets_created: assetIds.length, asset_ids: assetIds, message })
  else if (options.quiet !== true) console.error(message)
}

/** The error, with what it means for the rows: which are in, and which nobody knows of. */
function explained(error: unknown, at: { done: number; batch: number; total: number }): unknown {
  if (!(error instanceof Error)) return error
  const { done, batch, total } = at
  const advice = [
    ...(isOutcomeUnknown(error)
      ? [`whether rows ${done + 1} to ${Math.min(done + batch, total)} are in is not known`]
      : []),
    ...(done === 0 ? [] : [`${done} of ${total} rows are in; go on with --skip ${done}`]),
  ]
  if (advice.length === 0) return error
  const isTemporary = exitCodeOf(error) === exitCodes.temporary
  return new DaemonError([error.message, ...advice].join('; '), { cause: error, isTemporary })
}

async function readRows(file: string): Promise<readonly Row[]> {
  const format = rowFormatOfName(file)
  if (format === undefined) throw new UsageError(`${file}: rows come from a .csv, .json or .xlsx file`)
  const bytes = await readLocal(file)
  try {
    return parseRows(bytes, format)
  } catch (error) {
    if (error instanceof Error && error.name === 'RowsError')
      throw new UsageError(`${file}: ${error.message}`)
    throw error
  }
}

/** Throws UsageError where the column asked for is none of the file's. */
function itemsOf(rows: readonly Row[], file: string, asked: string | undefined): ForwardItem[] {
  if (asked !== undefined && !rows.some((row) => Object.hasOwn(row, asked))) {
    const columns = new Set(rows.flatMap((row) => Object.keys(row)))
    throw new UsageError(`${file} has no column "${asked}"; it has ${[...columns].join(', ')}`)
  }
  return forwardItemsOf(rows, file, asked)
}
