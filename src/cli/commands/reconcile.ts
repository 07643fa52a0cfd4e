// `docmount reconcile`: matches data and files against a table, and waits for the result.

import { type Command, InvalidArgumentError } from 'commander'
import { reconcileResultToWire } from '../../api/table-to-wire.ts'
import type { ReconcileResult } from '../../api/table-types.ts'
import { baseUrlOption } from '../connect.ts'
import { parseDurationMs } from '../durations.ts'
import { printJson, printTable } from '../output.ts'
import {
  type ReconcileInputOptions,
  dataOption,
  fileOption,
  readReconcileInput,
  withThreshold,
} from '../reconcile-input.ts'
import { UsageError } from '../usage-error.ts'
import { type TableOptions, projectOption, tableIdOf, withTables } from '../with-tables.ts'

interface ReconcileOptions extends TableOptions, ReconcileInputOptions {
  readonly map?: readonly string[]
  readonly out?: string
  readonly threshold?: number
  readonly timeout?: number
  readonly json?: boolean
}

const help = `
Waits until the run is complete. docmount tasks create only makes a task of it.

The columns of ROWS are compared with the table's fields of the same names. A column of another name is compared
with the field its values are found in, at half the weight; --map says which field it is.
What was not matched is told with the three assets that come nearest; --threshold says how near is near enough.

Examples:
  $ docmount reconcile invoices bank.csv --map Payer=customer --out matched.csv
  $ docmount reconcile invoices --data invoice.json
  $ jq .row export.json | docmount reconcile invoices --data - --json
  $ docmount reconcile invoices --file $(docmount tables store March rows.xlsx)`

export function register(program: Command): void {
  program
    .command('reconcile')
    .summary('match data and files against a table')
    .description('Matches rows, data or files against a reconcile table and shows the result.')
    .argument('<table>', 'name or id of a reconcile table')
    .argument('[rows]', 'a .csv, .json or .xlsx file, as a bank exports it')
    .option(
      '--map <column=field>',
      'the field of the table that a column of the rows is about; may be repeated',
      addTo,
    )
    .option(
      '--out <file>',
      'write the rows with asset name and id, score and reason (CSV; - for standard output)',
    )
    .option('--threshold <score>', 'the least score of a match, above 0 to 1 (default: 0.6)', parseScore)
    .option(...dataOption)
    .option(...fileOption)
    .option('--timeout <duration>', 'how long to wait for the run (default: 10m)', parseDurationMs)
    .option(...projectOption)
    .option(...baseUrlOption)
    .option('--json', 'print JSON: the result as the service spells it')
    .addHelpText('after', help)
    .action(async (table: string, rows: string | undefined, options: ReconcileOptions) => {
      if (rows !== undefined) {
        if (options.data !== undefined || options.file !== undefined)
          throw new UsageError('give a file of rows, or --data and --file, not both')
        const { runReconcileRows } = await import('../run-reconcile.ts')
        return await runReconcileRows(table, rows, options)
      }
      if (options.map !== undefined || options.out !== undefined)
        throw new UsageError('--map and --out go with a file of rows')
      const input = withThreshold(await readReconcileInput(options), options.threshold)
      const result = await withTables(options, async (tables, signal) => {
        const id = await tableIdOf(tables, table, signal)
        return await tables.reconcile(id, input, { signal, deadlineMs: options.timeout })
      })
      if (options.json === true) printJson(reconcileResultToWire(result))
      else print(result)
    })
}

function parseScore(text: string): number {
  const score = Number(text)
  if (!(score > 0 && score <= 1))
    throw new InvalidArgumentError('Write a number above 0, up to 1, like 0.75.')
  return score
}

function addTo(text: string, before: readonly string[] = []): readonly string[] {
  return [...before, text]
}

function print({ status, reasoning, data, rowId }: ReconcileResult): void {
  console.log(`status ${status ?? 'not told'}${rowId === undefined ? '' : `, row ${rowId}`}`)
  if (reasoning !== undefined) console.log(reasoning)
  const rows = Object.entries(data ?? {}).map(([key, value]) => [
    key,
    typeof value === 'string' ? value : JSON.stringify(value),
  ])
  if (rows.length > 0) console.log()
  printTable(['FIELD', 'VALUE'], rows)
}
