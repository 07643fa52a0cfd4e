// `docmount pause`: sends nothing for a while.

import type { Command } from 'commander'
import { withJsonAnswer, type JsonOption, jsonOption } from '../output.ts'

export function register(program: Command): void {
  program
    .command('pause')
    .summary('send nothing until docmount resume')
    .description(
      'Sends nothing until docmount resume, or the next mount: what you save stays on this machine. Reading goes on.',
    )
    .argument('[path]', 'a path on a drive, or a project (default: the only drive)')
    .option(...jsonOption)
    .addHelpText('after', '\nExample:\n  $ docmount pause acme')
    .action(async (path: string | undefined, options: JsonOption) => {
      const { askDrive, findDrive } = await import('../find-drive.ts')
      await withJsonAnswer(options, async () => {
        const { found } = await findDrive(path)
        await askDrive(found, 'pause', {})
        if (options.json !== true) console.log('paused; docmount resume goes on')
        return { mountpoint: found.mountpoint, isPaused: true }
      })
    })
}
