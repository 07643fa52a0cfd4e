// `docmount log`: shows the log of a drive's daemon.

import type { Command } from 'commander'

const help = `
With --verbose on docmount mount, the log also has every operation a program asks of the drive (path,
result, microseconds) and every call to the service (path, status, attempt, milliseconds, bytes).

Examples:
  $ docmount log ~/acme                          the last lines
  $ docmount log ~/acme --follow                 and what comes, until Ctrl-C
  $ docmount log ~/acme/report.pdf --follow      only what concerns this document or folder`

export function register(program: Command): void {
  program
    .command('log')
    .summary("show a drive's log")
    .description('Shows the log of a drive, or its lines about one document or folder.')
    .argument('[path]', 'a path on a drive, or a project (default: the only drive)')
    .option('-f, --follow', 'show new lines as they come, until Ctrl-C')
    .option('--json', 'print the lines as they are: JSON')
    .addHelpText('after', help)
    .action(async (path: string | undefined, options: { follow?: boolean; json?: boolean }) => {
      const { runLog } = await import('../run-log.ts')
      await runLog(path, { isFollowing: options.follow === true, isJson: options.json === true })
    })
}
