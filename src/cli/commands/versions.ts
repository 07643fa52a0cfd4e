// `docmount versions`: shows the former versions of a document that are known on this machine.

import type { Command } from 'commander'

const help = `
Versions that programs on this machine replaced or deleted. Times are those at which each went.

Examples:
  $ docmount versions ~/acme/report.pdf
  $ docmount restore ~/acme/report.pdf --at '2026-11-27 09:12:05' --to ~/acme/report-before.pdf`

export function register(program: Command): void {
  program
    .command('versions')
    .summary('show former versions of a document')
    .description('Shows the versions of a document that were replaced or deleted on this drive, latest last.')
    .argument('<path>', 'a document on a drive, or where one was')
    .option('--json', 'print JSON: an array of versions')
    .addHelpText('after', help)
    .action(async (path: string, options: { json?: boolean }) => {
      const { showVersions } = await import('../run-undo.ts')
      await showVersions(path, options)
    })
}
