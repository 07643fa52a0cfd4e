// `docmount wait`: waits until the service has everything.

import type { Command } from 'commander'
import type { PathOnMount } from '../../daemon/find-mount.ts'
import type { LocalFile } from '../../fs/status.ts'
import { isAtOrUnder, nameOf } from '../../path.ts'
import { parseWaitMs } from '../durations.ts'
import { exitCodes } from '../exit-codes.ts'
import { withJsonAnswer, type JsonOption } from '../output.ts'
import { quietOption } from '../progress.ts'
import { shellWord } from '../shell-word.ts'

export function register(program: Command): void {
  program
    .command('wait')
    .summary('wait until everything is sent')
    .description(
      'Waits until nothing at or under a path is unsent. If the service refuses a change, it sends the rest, and then fails.',
    )
    .argument('[path]', 'a path on a drive, or a project (default: the only drive)')
    .option('--timeout <duration>', 'give up after this long (default: never)', parseWaitMs)
    .option(...quietOption)
    .option('--json', 'print JSON: whether everything is sent, and what is not')
    .addHelpText('after', '\nExample:\n  $ cp *.pdf ~/acme/inbox/ && docmount wait ~/acme/inbox --timeout 5m')
    .action(
      async (path: string | undefined, options: WaitOptions) =>
        void (await withJsonAnswer(options, () => waitFor(path, options))),
    )
}

interface WaitOptions extends JsonOption {
  readonly timeout?: number
  readonly quiet?: boolean
}

async function waitFor(
  path: string | undefined,
  { timeout = Infinity, quiet }: WaitOptions,
): Promise<object> {
  const { askDrive, findDrive, interruptSignal } = await import('../find-drive.ts')
  const { followUnsent } = await import('../unsent-progress.ts')
  const place = await findDrive(path)
  const { found, path: inside } = place
  const answer = { mountpoint: found.mountpoint, path: inside }
  const input = { path: inside, ...(timeout === Infinity ? {} : { timeoutMs: timeout }) }
  const progress = followUnsent(found, inside, quiet)
  try {
    await askDrive(found, 'wait', input, { signal: interruptSignal() }).finally(() => progress.end())
    const localOnly = await localOnlyAt(place)
    if (quiet !== true) await printLocalOnly(localOnly)
    return { ...answer, isSent: true, localOnly }
  } catch (error) {
    if ((error as { code?: unknown }).code !== 'ETIMEDOUT') throw error
    const { unsent } = await askDrive(found, 'status', { path: inside })
    const named = path === undefined ? '' : ` ${shellWord(path)}`
    console.error(`docmount: not everything is sent yet; docmount status${named} shows what`)
    process.exitCode = exitCodes.temporary
    return { ...answer, isSent: false, unsent }
  }
}

/** Returns the temporary files at or under the path, without lock and swap files, which nobody expects to be sent. */
async function localOnlyAt({ found, path }: PathOnMount): Promise<readonly LocalFile[]> {
  const { askDrive } = await import('../find-drive.ts')
  const { isOwnName } = await import('../../fs/tree/scratch.ts')
  const { mount } = await askDrive(found, 'status', { path })
  return mount.scratch.filter((file) => isAtOrUnder(file.path, path) && !isOwnName(nameOf(file.path)))
}

/** Prints which temporary files are not sent. They stay on this machine by design, so the exit code is 0. */
async function printLocalOnly(localOnly: readonly LocalFile[]): Promise<void> {
  const { describeExceptLocalOnly } = await import('../unsent-text.ts')
  if (localOnly.length > 0) console.error(`docmount: ${describeExceptLocalOnly(localOnly)}`)
}
