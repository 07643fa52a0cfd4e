// `docmount explain`: why a path shows what it shows, and what its changes wait for.

import type { Command } from 'commander'
import { withJsonAnswer, type JsonOption, jsonOption } from '../output.ts'

const help = `
Examples:
  $ docmount explain ~/acme/report.pdf
  $ docmount explain ~/acme/report.pdf --json`

export function register(program: Command): void {
  program
    .command('explain')
    .summary('say why a path shows or hides, and what its changes wait for')
    .description(
      'Says by which rule a path shows what it shows, and what each unsent change of it waits for.',
    )
    .argument('<path>', 'a path on a drive')
    .option(...jsonOption)
    .addHelpText('after', help)
    .action(async (path: string, options: JsonOption) => {
      const { runExplain } = await import('../run-explain.ts')
      await withJsonAnswer(options, () => runExplain(path, options))
    })
}
