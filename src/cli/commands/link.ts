// `docmount link`: prints download addresses of documents, to pass on.

import type { Command } from 'commander'
import { withJsonAnswer, type JsonOption, jsonOption } from '../output.ts'

const help = `
Whoever has an address may download the document, without a key, for 15 minutes.
Addresses go to standard output, one a line; until when they hold, to standard error.

Examples:
  $ docmount link ~/acme/report.pdf
  $ docmount link ~/acme/*.pdf --json`

export function register(program: Command): void {
  program
    .command('link')
    .summary('print the download address of a document')
    .description('Asks the service for the download address of each document, and says until when it holds.')
    .argument('<path...>', 'documents on a drive')
    .option(...jsonOption)
    .addHelpText('after', help)
    .action(async (paths: readonly string[], options: JsonOption) => {
      const { linksOf } = await import('../run-link.ts')
      await withJsonAnswer(options, () => linksOf(paths, options))
    })
}
