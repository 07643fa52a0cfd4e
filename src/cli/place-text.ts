// The line of `docmount status PATH` about one document.

import type { Place, Unsent } from '../fs/status.ts'
import { formatBytes } from '../amounts.ts'
import { localTime } from '../local-time.ts'
import { printable } from '../printable.ts'
import { sentOf } from './unsent-text.ts'

/** Returns a line like `/a.pdf  with the service since 2026-11-22 12:00:03 (1.2 MiB)`. */
export function placeLine(path: string, place: Place): string {
  return printable(`${path}  ${stateText(place)}`)
}

function stateText(place: Place): string {
  switch (place.state) {
    case 'stored': {
      const since = place.since === undefined ? '' : ` since ${localTime(place.since)}`
      return `with the service${since}${place.bytes === undefined ? '' : ` (${formatBytes(place.bytes)})`}`
    }
    case 'folder':
      return 'a folder'
    case 'absent':
      return 'not there'
    case 'unsent':
      return unsentText(place.unsent)
    case 'refused':
      return place.unsent === undefined
        ? `refused: ${place.why}`
        : `refused: ${place.why}; ${adviceOnRefused(place.unsent)}`
    case 'here':
      return `on this machine only (${formatBytes(place.bytes)}): ${place.why}`
    case 'unknown':
      return `not known now: ${place.why}`
  }
}

function adviceOnRefused({ action, spoolFile }: Unsent): string {
  if (action === 'delete') return 'docmount retry asks again'
  return spoolFile === undefined
    ? 'no content of it is kept on this machine: docmount retry asks again, deleting it here gives it up'
    : 'it is kept on this machine: docmount retry sends it again, docmount recover copies it out'
}

function unsentText(unsent: Unsent): string {
  const { action, state, bytes, lastError, nextAttemptAt, spoolFile } = unsent
  if (state === 'unkept')
    return `not safe: the disk of this machine refuses it (${lastError ?? 'no reason given'}); make room there, docmount tries again automatically; docmount recover copies it out`
  if (action === 'delete') return 'deleted here; the service has not been told yet'
  if (state === 'sending') return `being sent: ${sentOf(unsent)}`
  const size = bytes === 0 ? '' : ` (${formatBytes(bytes)})`
  const why = lastError === undefined ? '' : `: ${lastError}`
  const when = nextAttemptAt === undefined ? '' : ` at ${localTime(nextAttemptAt)}`
  const what = action === 'rename' && spoolFile === undefined ? 'renamed here' : `kept on this machine${size}`
  return state === 'retrying' ? `${what}, tried again${when}${why}` : `${what}, waits to be sent${why}`
}
