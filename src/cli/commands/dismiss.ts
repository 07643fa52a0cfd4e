// `docmount dismiss`: takes what a person has read of off the list of what needs attention.

import type { Command } from 'commander'
import { withJsonAnswer, type JsonOption, jsonOption } from '../output.ts'

const help = `
Names that were refused for their type, at or under the path, are listed no longer: nothing
of them is on this machine. Of a whole drive, damage is listed no longer either: damaged
files stay in the state folder, as NAME.dismissed-TIME. Nothing is deleted.

Examples:
  $ docmount dismiss ~/acme/letter.docx
  $ docmount dismiss acme`

export function register(program: Command): void {
  program
    .command('dismiss')
    .summary('stop listing refused names and damage')
    .description('Takes refused names and damage off the list of docmount status. Deletes nothing.')
    .argument('[path]', 'a path on a drive, or a project (default: the only drive)')
    .option(...jsonOption)
    .addHelpText('after', help)
    .action(async (path: string | undefined, options: JsonOption) => {
      const { runDismiss } = await import('../run-dismiss.ts')
      await withJsonAnswer(options, () => runDismiss(path, options))
    })
}
