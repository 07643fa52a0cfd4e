// Arguments, options and help of `docmount forward`. Its work is in run-forward.ts, which is loaded only when the command runs.

import { type Command, InvalidArgumentError } from 'commander'
import { forwardBatchRows } from '../../api/forward-items.ts'
import { baseUrlOption } from '../connect.ts'
import type { ForwardOptions } from '../run-forward.ts'
import { quietOption } from '../progress.ts'
import { projectOption } from '../with-tables.ts'

const help = `
Each row becomes an asset; its columns are the asset's data. Rows are sent in batches, each of
which is accepted completely or not at all; after a failure, the same command continues after the
rows that are in. A file whose rows this machine has forwarded to the table before is not sent again, except with --again.

Examples:
  $ docmount tables create invoices --type reconcile
  $ docmount forward invoices rows.csv --name-column number
  $ docmount forward invoices rows.xlsx --json | jq .assets_created`

export function register(program: Command): void {
  program
    .command('forward')
    .summary('send rows into a reconcile table')
    .description('Sends the rows of a file into a reconcile table.')
    .argument('<table>', 'name or id of a reconcile table')
    .argument('<rows>', 'a .csv, .json or .xlsx file')
    .option('--name-column <column>', 'names the assets (default: asset_name or name, else the row numbers)')
    .option('--skip <rows>', 'leave out that many rows at the start', parseCount, 0)
    .option('--again', 'send the rows even if they were forwarded to this table before')
    .option('--batch <rows>', 'rows per request', parseBatch, forwardBatchRows)
    .option(...projectOption)
    .option(...baseUrlOption)
    .option(...quietOption)
    .option('--json', 'print JSON: {assets_created, asset_ids, message}')
    .addHelpText('after', help)
    .action(async (table: string, rows: string, options: ForwardOptions) => {
      const { runForward } = await import('../run-forward.ts')
      await runForward(table, rows, options)
    })
}

function parseBatch(text: string): number {
  if (parseCount(text) === 0) throw new InvalidArgumentError('Write a number from 1.')
  return Number(text)
}

function parseCount(text: string): number {
  if (!/^\d{1,9}$/.test(text)) throw new InvalidArgumentError('Write a whole number.')
  return Number(text)
}
