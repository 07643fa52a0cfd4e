// Implements `docmount trash`, `docmount versions` and `docmount restore PATH`.

import { formatBytes } from '../amounts.ts'
import type { Former, RestoreAnswer } from '../fs/former.ts'
import { printable } from '../printable.ts'
import { CommandError } from './command-error.ts'
import { askDrive, findDrive, interruptSignal } from './find-drive.ts'
import { localTime } from '../local-time.ts'
import { type JsonOption, print, printJson, printTable, withJsonAnswer } from './output.ts'
import { UsageError } from './usage-error.ts'

export async function showTrash(path: string | undefined, options: JsonOption): Promise<void> {
  const { found, path: inside } = await findDrive(path)
  const { former } = await askDrive(found, 'former', { path: inside })
  const deleted = former.filter(({ how, isRestored }) => how === 'deleted' && !isRestored)
  show(deleted, options, 'nothing that was deleted is known here')
}

export async function showVersions(path: string, options: JsonOption): Promise<void> {
  const { found, path: inside } = await findDrive(path)
  const { former } = await askDrive(found, 'former', { path: inside })
  const ofPath = former.filter((version) => version.path === inside)
  show(ofPath, options, 'no former version is known here')
}

export async function emptyTrash(path: string | undefined, options: JsonOption): Promise<void> {
  const { found, path: inside } = await findDrive(path)
  if (inside !== '/') throw new UsageError('--empty is for all of a drive: name its folder or its project')
  const answer = await askDrive(found, 'emptyUndo', {})
  print(options, answer, `removed, ${formatBytes(answer.bytes)}`)
}

/** Prints the latest last, where a terminal shows the end of a long list. The daemon sends `former` with the latest first. */
function show(former: readonly Former[], { json }: JsonOption, none: string): void {
  const oldestFirst = former.toReversed()
  if (json === true) return printJson(oldestFirst)
  if (former.length === 0) return console.log(none)
  const rows = oldestFirst.map(({ at, how, storedAt, bytes, path, missing }) => [
    localTime(at),
    how,
    storedAt === undefined ? '' : localTime(storedAt),
    bytes === undefined ? '' : formatBytes(bytes),
    missing === undefined ? 'kept' : `not kept: ${missing}`,
    printable(path),
  ])
  printTable(['AT', 'WAS', 'STORED', 'BYTES', 'HERE', 'PATH'], rows)
}

export interface RestoreOptions extends JsonOption {
  readonly at?: string
  readonly to?: string
}

/** Restores to `to` (default: the same path) the version of time `at`. Throws CommandError if a document could not be restored. */
export async function runRestore(path: string, { at, to, json }: RestoreOptions): Promise<void> {
  const { left } = await withJsonAnswer(json === true ? { json } : {}, async () => {
    const place = await findDrive(path)
    const target = to === undefined ? undefined : await findDrive(to)
    if (target !== undefined && target.found.mountpoint !== place.found.mountpoint)
      throw new UsageError(
        `${to} is not on the drive of ${path}; restore to a path on it, and copy from there`,
      )
    const request = { path: place.path, at: timeOf(at), to: target?.path }
    const answer = await askDrive(place.found, 'restore', request, { signal: interruptSignal() })
    if (json !== true) printRestored(answer)
    return answer
  })
  if (left.length > 0) throw new CommandError(`${left.length} documents are not back`)
}

function printRestored({ restored, left }: RestoreAnswer): void {
  for (const { path, bytes } of restored) console.log(`${printable(path)} is back, ${formatBytes(bytes)}`)
  for (const { path, why } of left) console.error(`${printable(path)} is not back: ${printable(why)}`)
}

/** Returns the value of `--at` as an ISO time. Throws UsageError if it is not a time. */
function timeOf(at: string | undefined): string | undefined {
  if (at === undefined) return undefined
  const time = new Date(at)
  if (Number.isNaN(time.getTime()))
    throw new UsageError(`${at} is no time; write it as docmount versions does: '2026-11-27 09:12:05'`)
  return time.toISOString()
}
