// `docmount webdav`: what it takes. What it does is in run-webdav.ts, loaded when it runs.

import type { Command } from 'commander'
import { parseAddress } from '../address.ts'
import { addDriveOptions } from '../drive-options.ts'
import type { WebdavDriveOptions } from '../run-webdav.ts'
import { addWebdavOptions } from '../webdav-options.ts'

const help = `
The same drive as docmount mount makes, for Windows, macOS, and whatever else speaks WebDAV, without
a mount on this machine. status, wait, unmount and the others take its address for its path.

The user is docmount; the password is made once, kept in the state folder, and shown on a terminal.
How each system connects: docs/desktops.md.

Examples:
  $ docmount webdav acme                          at http://127.0.0.1:4918/
  $ docmount webdav acme --listen 127.0.0.1:8000 --read-only
  $ docmount webdav acme --listen 0.0.0.0:8443 --cert fullchain.pem --key privkey.pem --host-name drive.example
  $ docmount status http://127.0.0.1:4918/
  $ docmount unmount http://127.0.0.1:4918/       sends what is left, and ends it`

export function register(program: Command): void {
  const command = program
    .command('webdav')
    .summary('serve a project as a WebDAV drive')
    .description('Serves a project as a WebDAV drive and returns when it is live.')
    .argument('<project>', 'name of the project')
    .option(
      '--listen <host:port>',
      'where to listen; port 0 = any that is free (default: 127.0.0.1:4918)',
      parseAddress,
    )
  addWebdavOptions(command)
  addDriveOptions(command)
  command.addHelpText('after', help).action(async (project: string, options: WebdavDriveOptions) => {
    const { runWebdav } = await import('../run-webdav.ts')
    await runWebdav(project, options, program.args.slice(1))
  })
}
