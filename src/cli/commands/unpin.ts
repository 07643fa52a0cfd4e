// `docmount unpin`: ends a pin.

import type { Command } from 'commander'

export function register(program: Command): void {
  program
    .command('unpin')
    .summary('stop keeping a pinned document or folder')
    .description('Ends a pin. The content moves to the cache, where it stays as long as there is room.')
    .argument('<path>', 'a pinned path on a drive')
    .addHelpText('after', '\nExample:\n  $ docmount unpin ~/acme/contracts')
    .action(async (path: string) => {
      const { askDrive, findDrive } = await import('../find-drive.ts')
      const place = await findDrive(path)
      await askDrive(place.found, 'unpin', { path: place.path })
    })
}
