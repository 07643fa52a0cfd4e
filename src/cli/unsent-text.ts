// Unsent changes in words: what, why not, and where the content lies meanwhile.

import type { Unsent } from '../fs/status.ts'
import { formatBytes } from './durations.ts'
import { printable } from './output.ts'

/** One line per change: `/a.pdf  replace  retrying  1.2 MiB  (PUT /a.pdf: 500 …; next try 12:30:01)`. */
export function unsentLine(unsent: Unsent): string {
  const { path, action, state, bytes, lastError, nextAttemptAt } = unsent
  const reasons: string[] = []
  if (lastError !== undefined) reasons.push(lastError)
  if (nextAttemptAt !== undefined) reasons.push(`next try ${clock(nextAttemptAt)}`)
  const size = bytes > 0 ? [formatBytes(bytes)] : []
  const why = reasons.length > 0 ? [`(${reasons.join('; ')})`] : []
  return [printable(path), action, state, ...size, ...why].join('  ')
}

/** What to tell somebody whose drive ended with work left. */
export function describeLeftUnsent(unsent: readonly Unsent[], stateDir: string | undefined): string {
  const count = unsent.length === 1 ? '1 change is' : `${unsent.length} changes are`
  const where = stateDir === undefined ? '' : ` in ${stateDir}`
  const lines = unsent.map((change) => {
    const spool = change.spoolFile === undefined ? '' : `\n    content: ${change.spoolFile}`
    return `  ${unsentLine(change)}${spool}`
  })
  return [`${count} not sent; kept${where} and sent after the next mount:`, ...lines].join('\n')
}

function clock(iso: string): string {
  const time = new Date(iso)
  return Number.isNaN(time.getTime()) ? iso : time.toTimeString().slice(0, 8)
}
