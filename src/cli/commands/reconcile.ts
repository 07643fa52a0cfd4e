// `docmount reconcile`: matches data and files against a table and waits for the result.

import type { Command } from 'commander'
import { reconcileResultToWire } from '../../api/table-to-wire.ts'
import type { ReconcileResult } from '../../api/table-types.ts'
import { baseUrlOption } from '../connect.ts'
import { parseDurationMs } from '../durations.ts'
import { printJson, printTable } from '../output.ts'
import { type ReconcileInputOptions, dataOption, fileOption, readReconcileInput } from '../reconcile-input.ts'
import { type TableOptions, projectOption, tableIdOf, withTables } from '../with-tables.ts'

interface ReconcileOptions extends TableOptions, ReconcileInputOptions {
  readonly timeout?: number
  readonly json?: boolean
}

const help = `
Waits until the run is complete. docmount tasks create only makes a task of it.

Examples:
  $ docmount reconcile invoices --data invoice.json
  $ jq .row export.json | docmount reconcile invoices --data - --json
  $ docmount reconcile invoices --file $(docmount tables store March rows.xlsx)`

export function register(program: Command): void {
  program
    .command('reconcile')
    .summary('match data and files against a table')
    .description('Matches data and files against a reconcile table and shows the result.')
    .argument('<table>', 'name or id of a reconcile table')
    .option(...dataOption)
    .option(...fileOption)
    .option('--timeout <duration>', 'how long to wait for the run (default: 10m)', parseDurationMs)
    .option(...projectOption)
    .option(...baseUrlOption)
    .option('--json', 'print JSON: the result as the service spells it')
    .addHelpText('after', help)
    .action(async (table: string, options: ReconcileOptions) => {
      const input = await readReconcileInput(options)
      const result = await withTables(options, async (tables, signal) => {
        const id = await tableIdOf(tables, table, signal)
        return await tables.reconcile(id, input, { signal, deadlineMs: options.timeout })
      })
      if (options.json === true) printJson(reconcileResultToWire(result))
      else print(result)
    })
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
