// `docmount pin`: keeps documents on this machine.

import type { Command } from 'commander'

const help = `
What is pinned is fetched completely while nobody reads, does not count towards the cache, is fetched
again when it changes, and can be read without the service. docmount pins shows the progress; docmount
unpin ends it.

Examples:
  $ docmount pin ~/acme/contracts             and everything that is put into it later
  $ docmount pin ~/acme/report.pdf --wait && echo ready to leave`

export function register(program: Command): void {
  program
    .command('pin')
    .summary('keep a document or folder on this machine')
    .description(
      'Keeps a document, or a folder with everything in it, on this machine, so that it can be read without the service.',
    )
    .argument('<path>', 'a path on a drive')
    .option('--wait', 'return when all of it is here')
    .addHelpText('after', help)
    .action(async (path: string, { wait }: { wait?: boolean }) => {
      const { runPin } = await import('../run-pins.ts')
      await runPin(path, wait === true)
    })
}
