// Arguments, options and help of `docmount webdav`. Its work is in run-webdav.ts, which is loaded only when the command runs.

import type { Command } from 'commander'
import { parseAddress } from '../address.ts'
import { configuredOptions } from '../configured-options.ts'
import { addDriveOptions } from '../drive-options.ts'
import type { WebdavDriveOptions } from '../run-webdav.ts'
import { addWebdavOptions } from '../webdav-options.ts'

const help = `
This is the same drive as with docmount mount, for Windows, macOS and any other WebDAV client, without
a mount on this machine. Use its address as the path for status, wait, unmount and the other commands.

The user is docmount; the password is made once, kept in the state folder, and shown on a terminal.
How each system connects: docs/desktops.md.

Examples:
  $ docmount webdav acme                          at http://127.0.0.1:4918/
  $ docmount webdav acme --listen 127.0.0.1:8000 --read-only
  $ docmount webdav acme --listen 0.0.0.0:8443 --cert fullchain.pem --key privkey.pem --host-name drive.example
  $ docmount status http://127.0.0.1:4918/
  $ docmount unmount http://127.0.0.1:4918/       sends what is left, and ends the drive`

export function register(program: Command): void {
  const command = program
    .command('webdav')
    .summary('serve a project as a WebDAV drive')
    .description('Serves a project as a WebDAV drive and returns when it is live.')
    .argument('<project>', 'name of the project')
    .option(
      '--listen <host:port>',
      'where to listen; port 0 = any free port (default: 127.0.0.1:4918)',
      parseAddress,
    )
  addWebdavOptions(command)
  addDriveOptions(command)
  command.addHelpText('after', help).action(async (project: string) => {
    const { runWebdav } = await import('../run-webdav.ts')
    const options = (await configuredOptions(project, command)) as unknown as WebdavDriveOptions
    await runWebdav(project, options, program.args.slice(1))
  })
}
