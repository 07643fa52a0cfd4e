// `docmount unmount`: sends what is left, then lets the drive go.

import type { Command } from 'commander'
import { parseWaitMs } from '../durations.ts'
import { quietOption } from '../progress.ts'

const help = `
Sends until done or out of time; what stays unsent is kept, named,
and sent after the next mount. Ctrl-C takes the wish back: the drive stays.

Examples:
  $ docmount unmount ~/acme
  $ docmount unmount ~/acme --timeout 30s        send for at most 30 seconds
  $ docmount unmount ~/acme --force              detach although a program still uses it

Exit codes: 0 unmounted and everything sent · 1 something is unsent, or the drive is in use`

export function register(program: Command): void {
  program
    .command('unmount')
    .alias('umount')
    .summary('send what is left and unmount')
    .description('Sends what is not sent yet, then unmounts.')
    .argument('<mountpoint>', 'the folder the drive is mounted at')
    .option('--force', 'do not wait for programs that use the drive')
    .option('--timeout <duration>', 'for sending and for programs to leave', parseWaitMs, 600_000)
    .option(...quietOption)
    .addHelpText('after', help)
    .action(async (mountpoint: string, options: { force?: boolean; timeout: number; quiet?: boolean }) => {
      const { runUnmount } = await import('../run-unmount.ts')
      const { force = false, timeout: timeoutMs, quiet } = options
      await runUnmount(mountpoint, { force, timeoutMs, quiet })
    })
}
