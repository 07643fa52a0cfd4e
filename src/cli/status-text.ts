// Drives in words, as `docmount status` prints them.

import type { MountStatus } from '../daemon/control-protocol.ts'
import type { LeftFolder } from '../daemon/left-behind.ts'
import { formatBytes } from './durations.ts'
import { leftLines, leftSummary, wayOn } from './left-text.ts'
import { printable } from './output.ts'
import { pinLine } from './pin-text.ts'
import { unsentLine } from './unsent-text.ts'

/** A drive that is live, in its lines. */
export function describeDrive(shown: MountStatus): string {
  const head = `${shown.mountpoint}  ${shown.project} at ${shown.baseUrl}  ${shown.state}`
  const facts = [
    shown.away === undefined
      ? `service ${shown.service}`
      : `service away since ${new Date(shown.away.since).toISOString()} (${shown.away.reason}): what is shown may be old`,
    ...(shown.readOnly ? ['read-only'] : []),
    shown.unsent.length === 0
      ? 'everything sent'
      : `${shown.unsent.length} not sent (${formatBytes(shown.unsentBytes)})`,
    ...(shown.scratchFiles > 0 ? [`${shown.scratchFiles} temporary files on this machine only`] : []),
    ...(shown.oddEntries.leftOut > 0
      ? [
          `${shown.oddEntries.leftOut} entries that the service lists cannot be shown (the log names the folders)`,
        ]
      : []),
    ...(shown.refusedNames.length > 0 ? [`${shown.refusedNames.length} refused for their type`] : []),
    ...(shown.conflicts > 0 ? [`${shown.conflicts} conflicts, kept beside the documents`] : []),
  ]
  const places = [`process ${shown.pid}`, `driver ${shown.driver}`, `state ${shown.stateDir}`]
  if (shown.webdav !== undefined)
    places.push(
      `WebDAV ${shown.webdav.url}/ (user ${shown.webdav.user}, password in ${shown.webdav.passwordFile})`,
    )
  if (shown.logFile !== undefined) places.push(`log ${shown.logFile}`)
  const unsent = shown.unsent.map((change) => `    ${unsentLine(change)}`)
  const local = shown.localOnly.map(
    ({ path, bytes, why }) => `    ${path}  on this machine only (${formatBytes(bytes)}): ${why}`,
  )
  const pins = shown.pins.map((pin) => `    ${pinLine(pin)}`)
  const lines = [...unsent, ...pins, ...local, ...refusedLines(shown), ...lostLines(shown)]
  return [head, `  ${facts.join(' · ')}`, ...lines, `  ${places.join(' · ')}`].join('\n')
}

/** The latest first; nothing of them is here. */
function refusedLines({ refusedNames }: MountStatus): string[] {
  if (refusedNames.length === 0) return []
  const lines = refusedNames
    .toReversed()
    .map(({ path, what }) => `    ${printable(path)}  refused: the service takes no ${what}`)
  return [
    ...firstTen(lines),
    '    what is refused is not on the drive: save it in another format, or mount with --unsupported-as MIMETYPE',
    '    (docmount types lists what is taken)',
  ]
}

/** The first ten lines, and how many more there are. */
function firstTen(lines: readonly string[]): string[] {
  const more = lines.length - 10
  return more <= 0 ? [...lines] : [...lines.slice(0, 10), `    and ${more} more`]
}

/** What is here and belongs nowhere: nothing is deleted that was not understood. */
function lostLines({ lost, damaged, mountpoint }: MountStatus): string[] {
  const lines = lost.map(
    ({ file, path, name, bytes }) =>
      `    ${printable(path ?? `${name} (never closed)`)}  lost+found  ${formatBytes(bytes)}  ${file}`,
  )
  if (lines.length > 0) lines.push(`    docmount recover --lost ${mountpoint} FOLDER takes it out`)
  return [...lines, ...damaged.map((file) => `    damaged, set aside: ${file}`)]
}

/** What a drive left that is not mounted. */
export function describeLeft(folder: LeftFolder): string {
  const { stateDir, drive, left } = folder
  const head =
    drive === undefined
      ? `${stateDir}  unmounted`
      : `${drive.mountpoint}  ${drive.project} at ${drive.baseUrl}  unmounted`
  const lines = leftLines(left).map((line) => `    ${line}`)
  const places = drive === undefined ? [] : [`  state ${stateDir}`]
  return [head, `  ${leftSummary(left)}`, ...lines, `  ${wayOn(folder)}`, ...places].join('\n')
}
