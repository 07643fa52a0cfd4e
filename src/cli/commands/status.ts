// `docmount status`: what is mounted and what is not sent yet.

import type { Command } from 'commander'

const help = `
Examples:
  $ docmount status                        all drives
  $ docmount status ~/acme/report.pdf      is this document with the service?
  $ docmount status ~/acme --json | jq .unsentBytes`

export function register(program: Command): void {
  program
    .command('status')
    .summary('show the drives and what is not sent yet')
    .description('Shows every drive, one drive, or the state of one document.')
    .argument('[path]', 'a mountpoint, or a path on a drive')
    .option('--json', 'print JSON: one object for a path, an array for all drives')
    .addHelpText('after', help)
    .action(async (path: string | undefined, options: { json?: boolean }) => {
      const { runStatus } = await import('../run-status.ts')
      await runStatus(path, options.json === true)
    })
}
