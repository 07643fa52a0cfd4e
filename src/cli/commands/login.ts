// `docmount login`: once, so that every other command knows service and key.

import type { Command } from 'commander'
import type { LoginOptions } from '../run-login.ts'

const help = `
The key is asked for without showing it, tried, and kept in ~/.config/docmount/config.json (mode 0600),
one section for each project that it opens. With --keyring the keyring has the key, and the file says so.
The key is never an argument, because every user of the machine can see those.

Examples:
  $ docmount login                                              asks for service and key
  $ docmount login --base-url https://service.example/api
  $ docmount login --base-url https://service.example/api --key-stdin < ~/.keys/acme`

export function register(program: Command): void {
  program
    .command('login')
    .summary('remember a service and a key')
    .description('Asks for the service and a key, tries them, and remembers them.')
    .option('--base-url <url>', 'the service, /api included')
    .option('--key-stdin', 'read the key from standard input')
    .option('--keyring', "keep the key in the desktop's keyring (needs secret-tool)")
    .addHelpText('after', help)
    .action(async (options: LoginOptions) => {
      const { runLogin } = await import('../run-login.ts')
      await runLogin(options)
    })
}
