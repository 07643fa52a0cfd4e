// The text of `docmount status` about drives.

import type { MountStatus } from '../daemon/control-protocol.ts'
import type { LeftFolder } from '../daemon/left-behind.ts'
import type { Unsent, UnsentState } from '../fs/status.ts'
import { formatBytes } from '../amounts.ts'
import { firstTen } from './first-ten.ts'
import { leftLines, leftSummary, lostLine, resumeAdvice, setAsideLine } from './left-text.ts'
import { localTime } from '../local-time.ts'
import { printable } from '../printable.ts'
import { pinLine } from './pin-text.ts'
import { adviceOnUnkept, unsentLine, unsentSum } from './unsent-text.ts'

/** Returns the lines about a live drive. */
export function describeDrive(shown: MountStatus): string {
  const head = `${shown.mountpoint}  ${shown.project} at ${shown.baseUrl}  ${shown.state}`
  const places = [`process ${shown.pid}`, `driver ${shown.driver}`, `state ${shown.stateDir}`]
  if (shown.webdav !== undefined)
    places.push(
      `WebDAV ${shown.webdav.url}/ (user ${shown.webdav.user}, password in ${shown.webdav.passwordFile})`,
    )
  if (shown.logFile !== undefined) places.push(`log ${shown.logFile}`)
  const lines = [
    ...firstTen(byUrgency(shown.unsent).map(unsentLine)),
    ...adviceOnUnkept(shown.unsent, shown.stateDir),
    ...shown.pins.map(pinLine),
    ...firstTen(localLines(shown)),
    ...refusedLines(shown),
    ...conflictLines(shown),
    ...lostLines(shown),
  ]
  return [
    head,
    `  ${factsOf(shown).join(' · ')}`,
    ...lines.map((line) => `    ${line}`),
    `  ${places.join(' · ')}`,
  ].join('\n')
}

const urgency: Readonly<Record<UnsentState, number>> = {
  unkept: 0,
  refused: 1,
  sending: 2,
  retrying: 3,
  pending: 4,
}

/** Sorts changes: first those that need the user, then those under way, then those that wait. */
function byUrgency(unsent: readonly Unsent[]): Unsent[] {
  return unsent.toSorted((a, b) => urgency[a.state] - urgency[b.state])
}

function factsOf(shown: MountStatus): string[] {
  const { state, unsent, scratchFiles, refusedNames, oddEntries, conflicts } = shown
  return [
    serviceOf(shown),
    ...(state === 'detached' ? ['detached: it serves the programs that still use it until they end'] : []),
    ...(shown.readOnly ? ['read-only'] : []),
    ...(shown.isPaused ? ['paused: nothing is sent until docmount resume'] : []),
    ...(shown.bytesPerSecond > 0 ? [`at most ${formatBytes(shown.bytesPerSecond)}/s each way`] : []),
    unsent.length === 0 ? 'everything sent' : unsentSum(unsent),
    ...counted(scratchFiles, 'temporary file', 'temporary files', ' on this machine only'),
    ...counted(
      oddEntries.leftOut,
      'entry',
      'entries',
      ' that the service lists cannot be shown (the log names the folders)',
    ),
    ...counted(refusedNames.length, 'name', 'names', ' refused: types the service does not take'),
    ...counted(conflicts, 'conflict', 'conflicts', ', kept beside the documents'),
  ]
}

function serviceOf({ away, service, keyRefusal }: MountStatus): string {
  if (away !== undefined)
    return `service away since ${localTime(away.since)} (${away.reason}): what is shown may be old`
  if (keyRefusal === undefined) return `service ${service}`
  return `service refuses the key (${keyRefusal}): what you save stays here until docmount login takes a new one`
}

function counted(count: number, one: string, many: string, rest: string): string[] {
  return count === 0 ? [] : [`${count} ${count === 1 ? one : many}${rest}`]
}

/** Lists lasting local files first, then scratch files, which become documents or are deleted by their program. */
function localLines({ localOnly, scratch }: MountStatus): string[] {
  const lasting = new Set(localOnly.map(({ path }) => path))
  return [...localOnly, ...scratch.filter(({ path }) => !lasting.has(path))].map(({ path, bytes, why }) =>
    printable(`${path}  on this machine only (${formatBytes(bytes)}): ${why}`),
  )
}

/** Lists names that were refused when they were created, the latest first; their content was not stored. */
function refusedLines({ refusedNames }: MountStatus): string[] {
  if (refusedNames.length === 0) return []
  const lines = refusedNames
    .toReversed()
    .map(({ path, what }) => printable(`${path}  refused: the service takes no ${what}`))
  return [
    ...firstTen(lines),
    'refused files are not on the drive: save them in another format, or mount with --unsupported-as MIMETYPE',
    '(docmount types lists the types that the service takes)',
  ]
}

function conflictLines({ conflictCopies }: MountStatus): string[] {
  if (conflictCopies.length === 0) return []
  const lines = conflictCopies.map(({ path, copy }) =>
    printable(`${path}  conflict: another version is kept as ${copy}`),
  )
  return [...firstTen(lines), 'docmount resolve PATH --keep mine|theirs|both ends a conflict']
}

/** Lists lost content, and damaged files that were set aside; `trouble` has a sentence for each damaged or missing file. */
function lostLines({ lost, damaged, trouble, mountpoint }: MountStatus): string[] {
  const lines = firstTen(lost.map(lostLine))
  if (lines.length > 0) lines.push(`docmount recover --lost ${mountpoint} FOLDER takes it out`)
  return [...lines, ...trouble.map(printable), ...damaged.map(setAsideLine)]
}

/** Returns the lines about a drive that is not mounted but left something unsent. */
export function describeLeft(folder: LeftFolder): string {
  const { stateDir, drive, left } = folder
  const head =
    drive === undefined
      ? `${stateDir}  unmounted`
      : `${drive.mountpoint}  ${drive.project} at ${drive.baseUrl}  unmounted`
  const lines = firstTen(leftLines(left)).map((line) => `    ${line}`)
  const places = drive === undefined ? [] : [`  state ${stateDir}`]
  return [head, `  ${leftSummary(left)}`, ...lines, `  ${resumeAdvice(folder)}`, ...places].join('\n')
}
