// One change of a drive, in words: for the command line and the page.

import { formatBytes } from '../amounts.ts'
import type { Activity } from './activity.ts'

/** `replaced  /a/b.pdf (12.3 KiB)`; paths and reasons are as they came from outside. */
export function activityText({ kind, path, from, bytes, reason, copy }: Activity): string {
  const size = bytes === undefined ? '' : ` (${formatBytes(bytes)})`
  switch (kind) {
    case 'moved':
    case 'copied':
      return `${kind.padEnd(8)}  ${from} → ${path}${size}`
    case 'refused':
      return `${kind.padEnd(8)}  ${path}: ${reason ?? 'the service gave no reason'}`
    case 'conflict':
      return `${kind.padEnd(8)}  ${path}: the other version is kept as ${copy}`
    case 'sent':
    case 'replaced':
    case 'deleted':
      return `${kind.padEnd(8)}  ${path}${size}`
  }
}
