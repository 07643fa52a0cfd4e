// `docmount retry`: try refused and waiting changes again, now.

import type { Command } from 'commander'

export function register(program: Command): void {
  program
    .command('retry')
    .summary('send refused and waiting changes again, now')
    .description('Sends changes that were refused or wait for their next try. docmount status lists them.')
    .argument('[path]', 'a path on a drive (default: the only drive)')
    .addHelpText('after', '\nExample:\n  $ docmount retry ~/acme && docmount wait ~/acme --timeout 1m')
    .action(async (path: string | undefined) => {
      const { askDrive, findDrive } = await import('../find-drive.ts')
      const place = await findDrive(path)
      const { retried } = await askDrive(place.found, 'retry', { path: place.path })
      console.log(
        retried === 0 ? 'nothing to send again' : `sending ${retried} again; docmount wait waits for it`,
      )
    })
}
