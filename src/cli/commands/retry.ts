// `docmount retry`: sends refused and waiting changes again, now.

import type { Command } from 'commander'
import { withJsonAnswer, type JsonOption, jsonOption } from '../output.ts'

export function register(program: Command): void {
  program
    .command('retry')
    .summary('send refused and waiting changes again')
    .description('Sends refused and waiting changes again, now. docmount status lists them.')
    .argument('[path]', 'a path on a drive, or a project (default: the only drive)')
    .option(...jsonOption)
    .addHelpText('after', '\nExample:\n  $ docmount retry ~/acme && docmount wait ~/acme --timeout 1m')
    .action(async (path: string | undefined, options: JsonOption) => {
      const { askDrive, findDrive } = await import('../find-drive.ts')
      await withJsonAnswer(options, async () => {
        const { found, path: inside } = await findDrive(path)
        const { retried } = await askDrive(found, 'retry', { path: inside })
        if (options.json !== true)
          console.log(
            retried === 0 ? 'nothing to send again' : `sending ${retried} again; docmount wait waits for it`,
          )
        return { mountpoint: found.mountpoint, path: inside, retried }
      })
    })
}
