// `docmount report`: writes what a drive knows into a file, for who mends a fault in it.

import type { Command } from 'commander'

const help = `
The file holds the rows that decide what shows, the changes that are not sent with what they wait
for, and the last thousand changes. Names are numbers in it, and messages of the service are left
out, unless --names is given. It holds no content, key or address.

Replay one in a clone: DOCMOUNT_REPORT=$PWD/report.json scripts/test ledger/report

Examples:
  $ docmount report report.json
  $ docmount report report.json acme --names`

export function register(program: Command): void {
  program
    .command('report')
    .summary('write what a drive knows into a file, without names')
    .description('Writes the rows that decide what a drive shows and sends into a new file.')
    .argument('<dest>', 'the new file')
    .argument('[path]', 'a path on a drive, or a project (default: the only drive)')
    .option('--names', 'with names and messages')
    .addHelpText('after', help)
    .action(async (destination: string, path: string | undefined, options: { names?: boolean }) => {
      const { runReport } = await import('../run-report.ts')
      await runReport(destination, path, { hasNames: options.names === true })
    })
}
