// `docmount recover`: get a document's content as this machine has it.

import type { Command } from 'commander'

export function register(program: Command): void {
  program
    .command('recover')
    .summary('copy what is not sent yet to a safe place')
    .description(
      'Copies the content at a path, as this machine has it, to a local file outside the drive. With --lost: moves ' +
        'everything that is in lost+found (docmount status names it) to a local folder, under its paths.',
    )
    .argument('<path>', 'a path on a drive')
    .argument('<destination>', 'the local file to write; with --lost the folder')
    .option('--lost', 'take out what is in lost+found')
    .addHelpText(
      'after',
      '\nExamples:\n  $ docmount recover ~/acme/report.pdf ~/report.pdf\n  $ docmount recover --lost ~/acme ~/found',
    )
    .action(async (path: string, destination: string, { lost }: { lost?: boolean }) => {
      const { runRecover, runRecoverLost } = await import('../run-recover.ts')
      await (lost === true ? runRecoverLost(path, destination) : runRecover(path, destination))
    })
}
