// `docmount recover`: get a document's content as this machine has it.

import type { Command } from 'commander'

export function register(program: Command): void {
  program
    .command('recover')
    .summary('copy what is not sent yet to a safe place')
    .description('Copies the content at a path, as this machine has it, to a local file outside the drive.')
    .argument('<path>', 'a path on a drive')
    .argument('<destination>', 'the local file to write')
    .addHelpText('after', '\nExample:\n  $ docmount recover ~/acme/report.pdf ~/report.pdf')
    .action(async (path: string, destination: string) => {
      const { runRecover } = await import('../run-recover.ts')
      await runRecover(path, destination)
    })
}
