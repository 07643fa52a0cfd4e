// One change of a drive, in words: for the command line and the page.

import { formatBytes } from '../amounts.ts'
import type { Activity } from './activity-bursts.ts'

/** `replaced  /a/b.pdf (12.3 KiB)`, `deleted   10000 below /a`; paths and reasons are as they came from outside. */
export function activityText({ kind, path, from, bytes, reason, copy, count }: Activity): string {
  const size = bytes === undefined ? '' : ` (${formatBytes(bytes)})`
  const subject = count === undefined ? path : `${count} below ${path}`
  const verb = kind.padEnd(8)
  switch (kind) {
    case 'moved':
    case 'copied':
      return count === undefined
        ? `${verb}  ${from} → ${path}${size}`
        : `${verb}  ${count} from below ${from} to below ${path}${size}`
    case 'refused':
      if (reason === undefined && count !== undefined) return `${verb}  ${subject}, for several reasons`
      return `${verb}  ${subject}: ${reason ?? 'the service gave no reason'}`
    case 'conflict':
      return `${verb}  ${subject}: the other version is kept ${copy === undefined ? 'beside each' : `as ${copy}`}`
    case 'sent':
    case 'received':
    case 'replaced':
    case 'deleted':
      return `${verb}  ${subject}${size}`
  }
}

/**
 * Returns the text of a desktop notification about a burst. Undefined for refusals and conflicts, which have notices of their own
 * (fs/notice.ts), and for changes of other clients.
 */
export function burstSentence({ kind, path, from, count }: Activity): string | undefined {
  switch (kind) {
    case 'sent':
    case 'replaced':
    case 'deleted':
      return `${count} documents below ${path} were ${kind}`
    case 'moved':
    case 'copied':
      return `${count} documents were ${kind} from below ${from} to below ${path}`
    case 'received':
    case 'refused':
    case 'conflict':
      return undefined
  }
}
