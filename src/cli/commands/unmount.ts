// `docmount unmount`: sends unsent changes, then unmounts the drive.

import type { Command } from 'commander'
import { parseWaitMs } from '../durations.ts'
import { withJsonAnswer } from '../output.ts'
import { quietOption } from '../progress.ts'
import { UsageError } from '../usage-error.ts'

interface UnmountCommandOptions {
  readonly force?: boolean
  readonly timeout?: number
  readonly all?: boolean
  readonly quiet?: boolean
  readonly json?: boolean
}

const help = `
Sends until everything is sent or the time is up. What stays unsent is named, kept, and sent
after the next mount. Programs that use the drive have ten seconds to leave; then the command names
them and the drive stays mounted. It also stays while the disk of this machine refuses to keep what was
saved (--force gives that content up). Ctrl-C cancels: the drive stays.

Examples:
  $ docmount unmount ~/acme
  $ docmount unmount acme                        the drive of this project
  $ docmount unmount --all
  $ docmount unmount ~/acme --timeout 30s        send for at most 30 seconds
  $ docmount unmount ~/acme --force              detach although a program still uses it

Exit codes: 0 unmounted and everything sent · 1 something is unsent, or the drive is in use`

export function register(program: Command): void {
  program
    .command('unmount')
    .alias('umount')
    .summary('send what is left and unmount')
    .description('Sends what is not sent yet, then unmounts.')
    .argument('[drive]', 'the folder the drive is mounted at, or its project')
    .option('--all', 'every drive of yours')
    .option('--force', 'do not wait for programs that use the drive, or for a full disk')
    .option('--timeout <duration>', 'how long to send (default: 10m)', parseWaitMs)
    .option(...quietOption)
    .option('--json', 'print JSON: what was unmounted, and what is not sent; with --all an array')
    .addHelpText('after', help)
    .action(async (drive: string | undefined, options: UnmountCommandOptions) => {
      const { runUnmount, runUnmountAll } = await import('../run-unmount.ts')
      const { force = false, timeout: timeoutMs = 600_000, json, quiet } = options
      const unmountOptions = { force, timeoutMs, quiet: quiet === true || json === true }
      if (options.all === true) {
        if (drive !== undefined) throw new UsageError('name one drive, or --all')
        await withJsonAnswer(options, () => runUnmountAll(unmountOptions))
        return
      }
      if (drive === undefined)
        throw new UsageError('which drive? Name its folder or its project, or add --all')
      await withJsonAnswer(options, () => runUnmount(drive, unmountOptions))
    })
}
