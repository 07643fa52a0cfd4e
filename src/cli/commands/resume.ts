// `docmount resume`: goes on after `docmount pause`.

import type { Command } from 'commander'
import { withJsonAnswer, type JsonOption, jsonOption } from '../output.ts'

export function register(program: Command): void {
  program
    .command('resume')
    .summary('go on sending after docmount pause')
    .description('Goes on sending what was saved since docmount pause.')
    .argument('[path]', 'a path on a drive, or a project (default: the only drive)')
    .option(...jsonOption)
    .addHelpText('after', '\nExample:\n  $ docmount resume acme')
    .action(async (path: string | undefined, options: JsonOption) => {
      const { askDrive, findDrive } = await import('../find-drive.ts')
      await withJsonAnswer(options, async () => {
        const { found } = await findDrive(path)
        await askDrive(found, 'resume', {})
        if (options.json !== true) console.log('sending again; docmount wait waits until everything is sent')
        return { mountpoint: found.mountpoint, isPaused: false }
      })
    })
}
