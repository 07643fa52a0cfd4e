// Arguments, options and help of `docmount ui`. Its work is in run-ui.ts, which is loaded only when the command runs.

import { type Command, InvalidArgumentError, Option } from 'commander'
import type { UiCommandOptions } from '../run-ui.ts'

const help = `
The address is for this machine and this user: it holds a token that nobody else has. The page shows
your drives, what is being sent, what was refused, conflicts, cache and pins, the log and the tables;
it ends with Ctrl-C. docmount mount --ui shows it for as long as the drive lives.

Examples:
  $ docmount ui                        prints the address, and opens it if there is a desktop
  $ docmount ui --no-open --port 4919
  $ docmount ui --versions ~/acme/report.pdf
  $ ssh -t -L 4919:127.0.0.1:4919 office docmount ui --no-open --port 4919     the drives of another machine`

export function register(program: Command): void {
  program
    .command('ui')
    .summary('show the drives in a web browser')
    .description(
      'Serves a page about your drives on this machine until Ctrl-C, and opens it if there is a desktop.',
    )
    .option('--port <number>', 'where to listen on 127.0.0.1; 0 = any free port', parsePort, 0)
    .option('--copy-to <folder>', 'where “Copy out” puts documents (default: your download folder)')
    .option('--versions <path>', 'show what was deleted and replaced at and under this path on a drive')
    .option('--no-open', 'only print the address')
    .addOption(new Option('--until-stdin-ends', 'end with standard input').hideHelp())
    .addHelpText('after', help)
    .action(async (options: UiCommandOptions) => {
      const { runUi } = await import('../run-ui.ts')
      await runUi(options)
    })
}

function parsePort(text: string): number {
  const port = Number(text)
  if (!/^\d{1,5}$/.test(text) || port > 65_535)
    throw new InvalidArgumentError('Write a number from 0 to 65535.')
  return port
}
