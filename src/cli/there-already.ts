// A drive that is asked for and is there already: done, unless other options are wanted of it.

import { readFile } from 'node:fs/promises'
import { DaemonError } from '../daemon/daemon-error.ts'
import type { MountRecord } from '../daemon/mount-record.ts'
import { thereAlready } from '../daemon/evict-stale-daemon.ts'
import { shellWord } from './shell-word.ts'
import { wayIn } from './webdav-options.ts'

/** Says where it is. Throws a DaemonError where an option is given that it was not started with. */
export async function tellThereAlready(
  live: MountRecord,
  { args }: { readonly args: readonly string[] },
  isQuiet: boolean,
): Promise<void> {
  const begun = await argumentsOf(live.pid)
  if (begun !== undefined && !optionsIn(args).every((word) => begun.includes(word)))
    throw new DaemonError(
      `${thereAlready(live)}, with the options it was started with; for others, end it first: ` +
        `docmount unmount ${shellWord(live.mountpoint)}`,
    )
  if (isQuiet) return
  console.log(thereAlready(live))
  if (live.webdav !== undefined) console.log(await wayIn(live.webdav))
}

/** Say how to start, or which drive: not how it is. */
const passing = /^(-q|--quiet|--foreground|--wait|--base-url|--source|--listen|--log|-v|--verbose)(=|$)/

/** The options and their values; project and mountpoint are the drive's own already. */
function optionsIn(args: readonly string[]): readonly string[] {
  const first = args.findIndex((arg) => arg.startsWith('-'))
  const words = first < 0 ? [] : args.slice(first)
  return words.filter((word, at) => {
    if (word.startsWith('-')) return !passing.test(word)
    return at > 0 && words[at - 1]?.startsWith('-') === true && !passing.test(words[at - 1] ?? '')
  })
}

/** Undefined where the system does not tell. */
async function argumentsOf(pid: number): Promise<readonly string[] | undefined> {
  const text = await readFile(`/proc/${pid}/cmdline`, 'utf8').catch(() => '')
  return text === '' ? undefined : text.split('\0')
}
