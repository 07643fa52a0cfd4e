// Handles `mount` and `webdav` for a drive that runs already: a success, unless it was started with other options.

import { readFile } from 'node:fs/promises'
import { CommandError } from './command-error.ts'
import type { MountRecord } from '../daemon/mount-record.ts'
import { describeLiveDrive } from '../daemon/evict-stale-daemon.ts'
import { shellWord } from './shell-word.ts'
import { webdavAccessText } from './webdav-options.ts'

/** Prints where the drive is. Throws CommandError if it was started without one of the options in `args`. */
export async function reportAlreadyRunning(
  live: MountRecord,
  { args }: { readonly args: readonly string[] },
  isQuiet: boolean,
): Promise<void> {
  const startedWith = await argumentsOf(live.pid)
  if (startedWith !== undefined && !optionsIn(args).every((word) => startedWith.includes(word)))
    throw new CommandError(
      `${describeLiveDrive(live)}, with the options it was started with; for others, end it first: ` +
        `docmount unmount ${shellWord(live.mountpoint)}`,
    )
  if (isQuiet) return
  console.log(describeLiveDrive(live))
  if (live.webdav !== undefined) console.log(await webdavAccessText(live.webdav))
}

/** Options that may differ: they choose the drive or how it starts, and do not change how it works. */
const mayDiffer = /^(-q|--quiet|--foreground|--wait|--base-url|--source|--listen|--log|-v|--verbose)(=|$)/

/** Returns the words that must be on both command lines: `--cache-size` and `1GiB` of `acme --cache-size 1GiB --quiet`. */
function optionsIn(args: readonly string[]): readonly string[] {
  // Project and mountpoint, before the first option, are the same.
  const first = args.findIndex((arg) => arg.startsWith('-'))
  const words = first < 0 ? [] : args.slice(first)
  return words.filter((word, at) => {
    if (word.startsWith('-')) return !mayDiffer.test(word)
    return at > 0 && words[at - 1]?.startsWith('-') === true && !mayDiffer.test(words[at - 1] ?? '')
  })
}

/** Returns the command line of a process, undefined if it cannot be read. */
async function argumentsOf(pid: number): Promise<readonly string[] | undefined> {
  const text = await readFile(`/proc/${pid}/cmdline`, 'utf8').catch(() => '')
  return text === '' ? undefined : text.split('\0')
}
