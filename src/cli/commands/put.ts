// Arguments, options and help of `docmount put`. Its work is in run-put.ts, which is loaded only when the command runs.

import type { Command } from 'commander'
import { baseUrlOption } from '../connect.ts'
import { bandwidthOption } from '../bandwidth-option.ts'
import { quietOption } from '../progress.ts'
import type { PutOptions } from '../run-put.ts'

const help = `
The type follows the name's extension. Missing folders are made. Eight documents are sent at a time; one
that fails is named, and the others go on. The service cannot overwrite, so --replace deletes the old
document first, and puts it back if the service refuses the new one.
--skip-existing skips documents that are there already, with the same size and stored after the local file
was last changed. With it the same command continues where it was interrupted; with --replace as well it
sends what is new or changed.

Examples:
  $ docmount put acme report.pdf /reports/2026.pdf
  $ docmount put acme report.pdf /reports/              under its own name
  $ docmount put acme invoices *.csv /2026/             several, folders with everything in them
  $ docmount put acme invoices /2026/ --skip-existing --bwlimit 2M
  $ pg_dump shop | docmount put acme - /dumps/shop.sql --replace`

export function register(program: Command): void {
  program
    .command('put')
    .summary('upload documents')
    .description('Uploads local files and folders to a path in the project.')
    .argument('<project>', 'name of the project')
    .usage('[options] <project> <local...> <path>')
    .argument(
      '<local-and-path...>',
      'files and folders (- is standard input), then the path; a / at its end keeps the names',
    )
    .option('--mimetype <type>', 'send it as this type, whatever its name')
    .option('--replace', 'replace a document that is there')
    .option('--skip-existing', 'skip what is there already')
    .addOption(bandwidthOption())
    .option(...quietOption)
    .option('--json', 'print JSON: {stored, skipped, failed}, arrays of documents')
    .option(...baseUrlOption)
    .addHelpText('after', help)
    .action(async (project: string, words: string[], options: PutOptions) => {
      const { runPut } = await import('../run-put.ts')
      await runPut(project, words, options)
    })
}
