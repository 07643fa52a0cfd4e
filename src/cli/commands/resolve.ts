// `docmount resolve`: ends a conflict, by keeping one version or both.

import { type Command, Option } from 'commander'
import type { Keep } from '../../daemon/resolve-conflict.ts'
import { withJsonAnswer, type JsonOption, jsonOption } from '../output.ts'

const help = `
A conflict is a document that somebody else changed too: their version was kept beside
yours as NAME (conflict DATE TIME HOST). docmount status lists all that are open.

  mine    deletes the copy
  theirs  puts the copy in the place of your document
  both    leaves both, and lists them no longer

Examples:
  $ docmount resolve ~/acme/report.pdf --keep mine
  $ docmount resolve '~/acme/report (conflict 2026-11-20 20.45.10 desk).pdf' --keep theirs`

export function register(program: Command): void {
  program
    .command('resolve')
    .summary('keep one version of a conflict, or both')
    .description('Ends a conflict: keeps your version of a document, theirs, or both.')
    .argument('<path>', 'a document with conflict copies, or one copy')
    .addOption(
      new Option('--keep <version>', 'the version to keep')
        .choices(['mine', 'theirs', 'both'])
        .makeOptionMandatory(),
    )
    .option(...jsonOption)
    .addHelpText('after', help)
    .action(async (path: string, options: { keep: Keep } & JsonOption) => {
      const { runResolve } = await import('../run-resolve.ts')
      await withJsonAnswer(options, () => runResolve(path, options))
    })
}
