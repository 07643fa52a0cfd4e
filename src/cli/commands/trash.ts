// `docmount trash`: shows documents that were deleted through a drive, as far as they are remembered.

import type { Command } from 'commander'

const help = `
What programs delete or replace on a drive is kept on this machine for a while (docmount mount --undo),
where its bytes are here at that time: read or saved lately, or pinned.

Examples:
  $ docmount trash                     the only drive's
  $ docmount trash ~/acme/letters      only what was under this folder
  $ docmount restore ~/acme/letters/a.pdf`

export function register(program: Command): void {
  program
    .command('trash')
    .summary('show what was deleted on a drive')
    .description(
      'Shows the documents that programs deleted on a drive, latest last, and which can be brought back.',
    )
    .argument('[path]', 'a path on a drive, or a project (default: the only drive)')
    .option('--empty', 'remove all that is kept of deleted and replaced versions from this machine')
    .option('--json', 'print JSON: an array of versions; with --empty {bytes}')
    .addHelpText('after', help)
    .action(async (path: string | undefined, options: { empty?: boolean; json?: boolean }) => {
      const { emptyTrash, showTrash } = await import('../run-undo.ts')
      await (options.empty === true ? emptyTrash(path, options) : showTrash(path, options))
    })
}
