// `docmount wait`: until the service has it.

import type { Command } from 'commander'
import type { PathOnMount } from '../../daemon/find-mount.ts'
import { isAtOrUnder, nameOf } from '../../path.ts'
import { parseWaitMs } from '../durations.ts'
import { exitCodes } from '../exit-codes.ts'
import { quietOption } from '../progress.ts'

export function register(program: Command): void {
  program
    .command('wait')
    .summary('wait until everything is sent')
    .description(
      'Waits until nothing at or under a path is unsent. If the service refuses a change, it sends the rest, and then fails.',
    )
    .argument('[path]', 'a path on a drive (default: the only drive)')
    .option('--timeout <duration>', 'give up after this long (default: never)', parseWaitMs)
    .option(...quietOption)
    .addHelpText('after', '\nExample:\n  $ cp *.pdf ~/acme/inbox/ && docmount wait ~/acme/inbox --timeout 5m')
    .action(
      async (
        path: string | undefined,
        { timeout = Infinity, quiet }: { timeout?: number; quiet?: boolean },
      ) => {
        const { askDrive, findDrive, interruptSignal } = await import('../find-drive.ts')
        const { followUnsent } = await import('../unsent-progress.ts')
        const place = await findDrive(path)
        const input = { path: place.path, ...(timeout === Infinity ? {} : { timeoutMs: timeout }) }
        const progress = followUnsent(place.found, place.path, quiet)
        try {
          await askDrive(place.found, 'wait', input, { signal: interruptSignal() }).finally(() =>
            progress.end(),
          )
          if (quiet !== true) await tellResting(place)
        } catch (error) {
          if ((error as { code?: unknown }).code !== 'ETIMEDOUT') throw error
          console.error(`docmount: not everything is sent yet; docmount status ${path ?? ''} shows what`)
          process.exitCode = exitCodes.temporary
        }
      },
    )
}

/** No failure: it is as it should be. What its program alone wants is nothing anybody waits for. */
async function tellResting({ found, path }: PathOnMount): Promise<void> {
  const { askDrive } = await import('../find-drive.ts')
  const { isOwnName } = await import('../../fs/tree/scratch.ts')
  const { describeResting } = await import('../unsent-text.ts')
  const { mount } = await askDrive(found, 'status', { path })
  const resting = mount.scratch.filter(
    (file) => isAtOrUnder(file.path, path) && !isOwnName(nameOf(file.path)),
  )
  if (resting.length > 0) console.error(`docmount: ${describeResting(resting)}`)
}
