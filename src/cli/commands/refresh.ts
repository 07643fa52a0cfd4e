// `docmount refresh`: look at the service again.

import type { Command } from 'commander'

export function register(program: Command): void {
  program
    .command('refresh')
    .summary('show what the service has now')
    .description('Forgets what is cached at and under a path, so that the next look asks the service.')
    .argument('<path>', 'a path on a drive')
    .addHelpText('after', '\nExample:\n  $ docmount refresh ~/acme/inbox && ls ~/acme/inbox')
    .action(async (path: string) => {
      const { askDrive, findDrive } = await import('../find-drive.ts')
      const place = await findDrive(path)
      await askDrive(place.found, 'refresh', { path: place.path })
    })
}
