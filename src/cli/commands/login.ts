// `docmount login`: stores service and key for all other commands.

import type { Command } from 'commander'
import { addNetworkOptions } from '../network-options.ts'
import type { LoginOptions } from '../run-login.ts'

const help = `
The key is asked for without showing it, tried, and kept in ~/.config/docmount/config.json (mode 0600),
one section for each project that it opens. With --keyring the keyring has the key, and the file says so.
The key is never an argument, because every user of the machine can see those. A proxy and the certificates
of your own authority are kept with it, so that every command and every drive uses them.

Examples:
  $ docmount login                                              asks for service and key
  $ docmount login --base-url https://service.example/api
  $ docmount login --base-url https://service.example/api --key-stdin < ~/.keys/acme
  $ docmount login --base-url https://documents.local/api --ca-file ~/our-ca.pem --proxy proxy.local:3128`

export function register(program: Command): void {
  const command = program
    .command('login')
    .summary('remember a service and a key')
    .description('Asks for the service and a key, tries them, and remembers them.')
    .option('--base-url <url>', 'the service, /api included')
  addNetworkOptions(command)
    .option('--key-stdin', 'read the key from standard input')
    .option('--keyring', "keep the key in the desktop's keyring (needs secret-tool)")
    .addHelpText('after', help)
    .action(async (options: LoginOptions) => {
      const { runLogin } = await import('../run-login.ts')
      await runLogin(options)
    })
}
