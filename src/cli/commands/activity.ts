// `docmount activity`: shows the changes that a drive sent to the service, and their outcome.

import type { Command } from 'commander'

const help = `
The last thousand changes are kept, over restarts: sent, replaced, moved, copied, deleted,
refused, conflicts, and documents that were received whole. More than ten changes of one kind,
one soon after another, become one line.

Examples:
  $ docmount activity                       the only drive's
  $ docmount activity ~/acme/letters        only what concerns this document or folder
  $ docmount activity acme --follow         and what comes, until Ctrl-C`

export function register(program: Command): void {
  program
    .command('activity')
    .summary('show what a drive did in the service')
    .description(
      'Shows what a drive sent, received, replaced, moved, deleted and was refused, with time and size.',
    )
    .argument('[path]', 'a path on a drive, or a project (default: the only drive)')
    .option('-f, --follow', 'show new changes as they come, until Ctrl-C')
    .option('--json', 'print a line of JSON for each change')
    .addHelpText('after', help)
    .action(async (path: string | undefined, options: { follow?: boolean; json?: boolean }) => {
      const { runActivity } = await import('../run-activity.ts')
      await runActivity(path, { isFollowing: options.follow === true, isJson: options.json === true })
    })
}
