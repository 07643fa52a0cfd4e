// Arguments, options and help of `docmount mount`. Its work is in run-mount.ts, which is loaded only when the command runs.

import { type Command, Option } from 'commander'
import { parseAddress } from '../address.ts'
import { addDriveOptions, kernelOptions } from '../drive-options.ts'
import { configuredOptions } from '../configured-options.ts'
import type { MountCommandOptions } from '../run-mount.ts'
import { UsageError } from '../usage-error.ts'
import { addWebdavOptions } from '../webdav-options.ts'

const help = `
The command returns when the drive is live. The daemon behind it keeps a log and what is not sent
yet in the state folder (docmount status shows where), and the documents' blocks in the cache folder.
Options can also stand in ~/.config/docmount/config.json, for all projects or for one, with _ for -.
If the project is mounted there already, the command says so and changes nothing.

Examples:
  $ docmount mount acme                           mounts at ~/acme
  $ docmount mount acme /mnt/acme --read-only
  $ docmount mount acme --close-wait 0            never wait for the service when saving
  $ docmount mount acme --foreground -v           stay, and show what happens
  $ docmount mount --all                          every project of the config file, and what was left
  $ docmount mount acme --webdav                  for WebDAV clients too, at http://127.0.0.1:4918/

In /etc/fstab (the key in root's config file):
  acme:  /mnt/acme  docmount  base_url=https://service.example/api,allow_other,_netdev,nofail  0  0`

export function register(program: Command): void {
  const command = program
    .command('mount')
    .summary('mount a project as a folder')
    .description('Mounts a project as a folder and returns when the drive is live.')
    .argument('[project]', 'name of the project')
    .argument('[mountpoint]', 'an empty folder (default: ~/PROJECT, made if missing)')
  for (const option of kernelOptions()) command.addOption(option)
  addDriveOptions(command)
  command.option('--all', 'mount every project of the config file, and every drive that left something here')
  command.option('--ui', 'serve the page of docmount ui as long as the drive lives, and print its address')
  command.option(
    '--webdav [host:port]',
    'serve the drive by WebDAV too (default: 127.0.0.1:4918)',
    parseAddress,
  )
  addWebdavOptions(command)
  command
    .addOption(new Option('--source <text>', 'the first column of the mount table').hideHelp())
    .option('-o <options>', 'mount(8) options: ro, allow_other, cache_ttl=30s, … as above with _ for -')
    .addHelpText('after', help)
    .action(async (project: string | undefined, mountpoint: string | undefined) => {
      if (command.opts<{ all?: boolean }>().all === true) {
        if (program.args.length > 2)
          throw new UsageError('--all takes nothing beside it: options stand in the config file')
        const { mountAll } = await import('../unmounted-drives.ts')
        return mountAll()
      }
      if (project === undefined) throw new UsageError('which project? Name one, or --all')
      const { runMount } = await import('../run-mount.ts')
      // In fstab the project ends in a colon, so that mount(8) does not take it for a path.
      const name = project.replace(/:$/, '')
      const options = (await configuredOptions(name, command)) as unknown as MountCommandOptions
      await runMount(name, mountpoint, options, program.args.slice(1))
    })
}
