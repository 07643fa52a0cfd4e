// Arguments, options and help of `docmount get`. Its work is in run-get.ts, which is loaded only when the command runs.

import type { Command } from 'commander'
import { bandwidthOption } from '../bandwidth-option.ts'
import { baseUrlOption } from '../connect.ts'
import { quietOption } from '../progress.ts'
import type { GetOptions } from '../run-get.ts'

const help = `
A local file appears once it is complete, with the document's time, and replaces one that exists.
A folder arrives under its own name with everything in it, eight documents at a time (the whole project: /,
under the project's name). One that fails is named, and the others go on. --skip-existing skips files that
are there already, with the document's size and time. With it the same command continues where it was
interrupted.

Examples:
  $ docmount get acme /invoices/a.pdf                 as ./a.pdf
  $ docmount get acme /invoices/a.pdf ~/Downloads
  $ docmount get acme /invoices ~/Downloads           as ~/Downloads/invoices
  $ docmount get acme / backup --skip-existing --bwlimit 2M
  $ docmount get acme /rows.csv - | head`

export function register(program: Command): void {
  program
    .command('get')
    .summary('download documents')
    .description('Downloads a document, or a folder with everything in it.')
    .argument('<project>', 'name of the project')
    .argument('<path>', 'path in the project')
    .argument('[local]', 'file or folder to put it in, - for standard output (default: here, under its name)')
    .option('--skip-existing', 'skip what is there already')
    .addOption(bandwidthOption())
    .option(...quietOption)
    .option('--json', 'print JSON: {fetched, skipped, failed}, arrays of documents')
    .option(...baseUrlOption)
    .addHelpText('after', help)
    .action(async (project: string, path: string, local: string | undefined, options: GetOptions) => {
      const { runGet } = await import('../run-get.ts')
      await runGet(project, path, local, options)
    })
}
