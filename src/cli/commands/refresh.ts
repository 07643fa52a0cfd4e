// `docmount refresh`: drops cached listings, so that the drive shows what the service has now.

import type { Command } from 'commander'
import { withJsonAnswer, type JsonOption, jsonOption } from '../output.ts'

const help = `
It fails if neither this machine nor the service has the name.

Example:
  $ docmount refresh ~/acme/inbox && ls ~/acme/inbox`

export function register(program: Command): void {
  program
    .command('refresh')
    .summary('show what the service has now')
    .description('Drops cached listings at and under a path, so that the next look asks the service.')
    .argument('[path]', 'a path on a drive, or a project (default: the only drive)')
    .option(...jsonOption)
    .addHelpText('after', help)
    .action(async (path: string | undefined, options: JsonOption) => {
      const [{ askDrive, findDrive }, { CommandError }] = await Promise.all([
        import('../find-drive.ts'),
        import('../command-error.ts'),
      ])
      await withJsonAnswer(options, async () => {
        const { found, path: inside } = await findDrive(path)
        await askDrive(found, 'refresh', { path: inside })
        const { mountpoint } = found
        if (inside === '/') return { mountpoint, path: inside, state: 'folder' }
        const { place } = await askDrive(found, 'status', { path: inside })
        if (place?.state === 'absent')
          throw new CommandError(`${path} is neither in the service nor on this machine`)
        return { mountpoint, path: inside, state: place?.state }
      })
    })
}
