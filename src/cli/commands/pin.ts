// `docmount pin`: keep documents on this machine.

import type { Command } from 'commander'

const help = `
What is pinned is fetched whole while nobody reads, kept beyond the cache's bound, fetched again when it
changes, and read without the service. docmount pins shows how far it is; docmount unpin ends it.

Examples:
  $ docmount pin ~/acme/contracts             with everything that comes into it later
  $ docmount pin ~/acme/report.pdf --wait && echo ready to leave`

export function register(program: Command): void {
  program
    .command('pin')
    .summary('keep a document or folder on this machine')
    .description(
      'Keeps a document, or a folder with everything in it, on this machine, for when the service is away.',
    )
    .argument('<path>', 'a path on a drive')
    .option('--wait', 'return when all of it is here')
    .addHelpText('after', help)
    .action(async (path: string, { wait }: { wait?: boolean }) => {
      const { runPin } = await import('../run-pins.ts')
      await runPin(path, wait === true)
    })
}
