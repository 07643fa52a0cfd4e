// `docmount types`: shows which types of document the service takes, by extension.

import type { Command } from 'commander'

const help = `
Examples:
  $ docmount types                         every extension that is taken, and as what
  $ docmount types report.docx scan.pdf    would these be taken?
  $ docmount types *.* --json`

export function register(program: Command): void {
  program
    .command('types')
    .summary('show which types of document the service takes')
    .description(
      'Shows which types of document the service takes, by extension. With names: what each would be sent as; exit code 1 if one is refused.',
    )
    .argument('[files...]', 'names to judge; files of the same name are not read')
    .option('--json', 'print JSON: mimetype to extensions, or name to mimetype (null: refused)')
    .addHelpText('after', help)
    .action(async (names: string[], options: { json?: boolean }) => {
      const { runTypes } = await import('../run-types.ts')
      runTypes(names, options.json === true)
    })
}
