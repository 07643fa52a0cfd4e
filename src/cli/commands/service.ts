// `docmount service`: mounts a drive at every login, by a systemd user unit.

import type { Command } from 'commander'
import type { JsonOption } from '../output.ts'
import type { DriveToMount } from '../run-service.ts'

const help = `
The unit starts the drive at login, starts it again after a failure for as long as it takes, and sends
what is left when it stops. Service and key come from the config file, so run docmount login first.
Everything behind -- goes to docmount mount. A drive that cannot be mounted is not installed. A drive that
you unmount or eject stays unmounted until the next login.

Examples:
  $ docmount service install acme                        ~/acme from now on
  $ docmount service install acme ~/documents -- --close-wait 0
  $ docmount service status
  $ docmount service remove acme                         stops it; what was not sent stays journaled
  $ docmount service install acme /mnt/acme --fstab      prints the line for /etc/fstab instead`

export function register(program: Command, makeProgram: (command: string) => Promise<Command>): void {
  const service = program
    .command('service')
    .summary('mount a drive at every login')
    .description('Makes, shows and removes the systemd user units that keep drives mounted.')
    .addHelpText('after', help)

  service
    .command('install')
    .summary('mount a project at every login')
    .description(
      'Writes a systemd user unit for the project, starts it, and enables it once the drive is mounted.',
    )
    .argument('<project>', 'name of the project')
    .argument('[mountpoint]', 'an empty folder (default: ~/PROJECT, made if missing)')
    .argument('[options...]', 'options of docmount mount, behind --')
    .option('--fstab', 'print the line for /etc/fstab, and write nothing')
    .option('--no-start', 'enable the unit, but do not start it now')
    .action(
      async (
        project: string,
        mountpoint: string | undefined,
        mountOptions: string[],
        options: { fstab?: boolean; start: boolean },
      ) => {
        const { installUnit, printFstabLine } = await import('../run-service.ts')
        // If nothing stands between project and --, commander takes the first option after it for the mountpoint.
        const isOption = mountpoint?.startsWith('-') === true
        const drive = {
          project,
          mountpoint: isOption ? undefined : mountpoint,
          mountOptions: isOption ? [mountpoint ?? '', ...mountOptions] : mountOptions,
        }
        await checkMountOptions(await makeProgram('mount'), drive)
        if (options.fstab === true) await printFstabLine(drive)
        else await installUnit(drive, options.start)
      },
    )

  service
    .command('remove')
    .summary('stop mounting it at login')
    .description('Stops the unit, which sends what is left, and removes it.')
    .argument('<project>', 'name of the project')
    .action(async (project: string) => {
      const { removeUnit } = await import('../run-service.ts')
      await removeUnit(project)
    })

  service
    .command('status')
    .summary('show the units')
    .description('Shows the units of docmount and their state.')
    .option('--json', 'print JSON: an array of {unit, state, enabled, reason?}')
    .action(async (options: JsonOption) => {
      const { showUnits } = await import('../run-service.ts')
      await showUnits(options)
    })
}

/** Throws what `docmount mount` would throw for these arguments. */
async function checkMountOptions(
  program: Command,
  { project, mountpoint, mountOptions }: DriveToMount,
): Promise<void> {
  const mount = program.commands.find((command) => command.name() === 'mount')
  const folder = mountpoint === undefined ? [] : [mountpoint]
  // Parsed only: the action that would mount is replaced.
  await mount?.action(() => {}).parseAsync([project, ...folder, ...mountOptions], { from: 'user' })
}
