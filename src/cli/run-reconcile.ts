// Implements `docmount reconcile TABLE ROWS`: matches the rows of a file against a table, and writes them with their matches.

import { rename, rm, writeFile } from 'node:fs/promises'
import { basename, dirname, join } from 'node:path'
import { reconcileResultToWire } from '../api/table-to-wire.ts'
import type { ReconcileResult } from '../api/table-types.ts'
import { CommandError } from './command-error.ts'
import type { Row } from '../rows/row.ts'
import { inputOfRows, matchedRows, textOfMatched, type MatchedRows } from '../tables-drive/reconcile-rows.ts'
import { printJson, printTable } from './output.ts'
import { readRows } from './read-rows.ts'
import { withThreshold } from './reconcile-input.ts'
import { UsageError } from './usage-error.ts'
import { type TableOptions, tableIdOf, withTables } from './with-tables.ts'

export interface ReconcileRowsOptions extends TableOptions {
  /** Each `COLUMN=FIELD`. */
  readonly map?: readonly string[]
  readonly out?: string
  /** Lowest score of a match: above 0, up to 1. */
  readonly threshold?: number
  /** Milliseconds. */
  readonly timeout?: number
  readonly json?: boolean
}

/** Throws UsageError if the file has no rows, or `--map` does not fit it; CommandError if the run failed. */
export async function runReconcileRows(
  table: string,
  file: string,
  options: ReconcileRowsOptions,
): Promise<void> {
  const fieldOf = new Map((options.map ?? []).map(parseMapping))
  const { rows, result } = await withTables(options, async (tables, signal) => {
    const rows = await rowsOf(file, signal)
    const input = withThreshold(
      withUsageErrors(file, () => inputOfRows({ rows, fieldOf })),
      options.threshold,
    )
    const id = await tableIdOf(tables, table, signal)
    return { rows, result: await tables.reconcile(id, input, { signal, deadlineMs: options.timeout }) }
  })
  if (result.status === 'error') throw new CommandError(result.reasoning ?? 'the run failed')
  const matched = matchedRows({ rows, fieldOf }, result)
  if (options.out === '-') process.stdout.write(textOfMatched(matched))
  else if (options.out !== undefined) await writeWhole(options.out, textOfMatched(matched))
  if (options.json === true) printJson(reconcileResultToWire(result))
  else if (options.out === undefined) printMatches(matched, result)
  const where = options.out === undefined || options.out === '-' ? '' : `; written to ${options.out}`
  console.error(`${matched.matched} of ${rows.length} rows matched${where}`)
}

function parseMapping(text: string): [column: string, field: string] {
  const at = text.indexOf('=')
  if (at <= 0 || at === text.length - 1)
    throw new UsageError(`--map takes COLUMN=FIELD, such as Payer=Customer, not "${text}"`)
  return [text.slice(0, at), text.slice(at + 1)]
}

async function rowsOf(file: string, signal: AbortSignal): Promise<Row[]> {
  const rows = await readRows(file, undefined, signal)
  try {
    return (await rows.items(0, rows.count)).map(({ rowData }) => rowData)
  } finally {
    rows.close()
  }
}

function withUsageErrors<T>(file: string, work: () => T): T {
  try {
    return work()
  } catch (error) {
    if (error instanceof Error && error.name === 'RowsError')
      throw new UsageError(`${file}: ${error.message}`)
    throw error
  }
}

/** Writes to a temporary name and renames, so that no program reads half of the file. */
async function writeWhole(path: string, text: string): Promise<void> {
  const part = join(dirname(path), `.${basename(path)}.${process.pid}.part`)
  try {
    await writeFile(part, text)
    await rename(part, path)
  } catch (error) {
    await rm(part, { force: true })
    throw error
  }
}

function printMatches({ lines }: MatchedRows, { reasoning }: ReconcileResult): void {
  const rows = lines.map((line, at) => {
    // The columns that `matchedRows` adds: asset name, asset id, score, why.
    const [name, , score, why] = line.slice(-4)
    const shown = typeof score === 'number' ? score.toFixed(2) : undefined
    return [at + 1, textOf(name), shown, textOf(why)]
  })
  printTable(['ROW', 'ASSET', 'SCORE', 'WHY'], rows)
  // Only the reference service is sure to return these columns; of another one the reasoning is shown.
  const hasMatches = rows.some(([, name, score, why]) => (name ?? score ?? why) !== undefined)
  if (!hasMatches && reasoning !== undefined) console.log(reasoning)
}

function textOf(value: unknown): string | undefined {
  return typeof value === 'string' ? value : undefined
}
