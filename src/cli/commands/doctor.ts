// `docmount doctor`: checks if a drive will work on this machine.

import type { Command } from 'commander'
import { addNetworkOptions } from '../network-options.ts'
import type { DoctorOptions } from '../run-doctor.ts'

const help = `
Examples:
  $ docmount doctor
  $ docmount doctor acme
  $ docmount doctor --base-url https://service.example/api

Exit codes: 0 a drive will work · 1 something is in the way`

export function register(program: Command): void {
  const command = program
    .command('doctor')
    .summary('check this machine and the service')
    .description('Checks what a drive needs: FUSE, folders, the service, the key. Changes nothing.')
    .argument('[project]', 'check also whether this project can be mounted')
    .option('--base-url <url>', 'the service to check (default: $DOCMOUNT_BASE_URL or the config file)')
  addNetworkOptions(command)
    .option('--json', 'print JSON')
    .addHelpText('after', help)
    .action(async (project: string | undefined, options: DoctorOptions) => {
      const { runDoctor } = await import('../run-doctor.ts')
      await runDoctor(project, options)
    })
}
