// `docmount bwlimit`: changes the limit of a drive that is mounted.

import type { Command } from 'commander'
import { formatBytes } from '../../amounts.ts'
import { parseRate } from '../durations.ts'
import { withJsonAnswer, type JsonOption, jsonOption } from '../output.ts'

export function register(program: Command): void {
  program
    .command('bwlimit')
    .summary('change how much of the line a drive uses')
    .description('Limits the bytes per second, each way, until the next mount.')
    .argument('<rate>', 'bytes per second: 500K, 2M; 0 = no limit', parseRate)
    .argument('[path]', 'a path on a drive, or a project (default: the only drive)')
    .option(...jsonOption)
    .addHelpText('after', '\nExample:\n  $ docmount bwlimit 500K acme')
    .action(async (bytesPerSecond: number, path: string | undefined, options: JsonOption) => {
      const { askDrive, findDrive } = await import('../find-drive.ts')
      await withJsonAnswer(options, async () => {
        const { found } = await findDrive(path)
        await askDrive(found, 'bwlimit', { bytesPerSecond })
        if (options.json !== true)
          console.log(bytesPerSecond === 0 ? 'no limit' : `at most ${formatBytes(bytesPerSecond)}/s each way`)
        return { mountpoint: found.mountpoint, bytesPerSecond }
      })
    })
}
