// `docmount status`: shows drives and unsent changes.

import type { Command } from 'commander'
import type { StatusOptions } from '../run-status.ts'

const help = `
Examples:
  $ docmount status                        all drives
  $ docmount status ~/acme/report.pdf      is this document with the service?
  $ docmount status ~/acme/reports --names each name there: its state, and whether it is on this machine
  $ docmount status --watch                shown again at each change, until Ctrl-C
  $ docmount status ~/acme --json | jq .unsentBytes`

export function register(program: Command): void {
  program
    .command('status')
    .summary('show the drives and what is not sent yet')
    .description(
      'Shows your drives, or one drive or document: what is sent, and what is not, also of drives that are not mounted.',
    )
    .argument('[path]', 'a path on a drive, or a project')
    .option('--names', 'each name in the folder: its state, and whether it is on this machine')
    .option('--all', 'other users’ drives too')
    .option('--watch', 'show it again whenever it changes, until Ctrl-C')
    .option('--json', 'print JSON: one object for a path, an array for all drives')
    .addHelpText('after', help)
    .action(async (path: string | undefined, options: StatusOptions & { names?: boolean }) => {
      if (options.names === true) {
        const { runNames } = await import('../run-names.ts')
        return runNames(path, options)
      }
      const { runStatus } = await import('../run-status.ts')
      await runStatus(path, options)
    })
}
