// An unsent change, as commands show it: of a running drive, or of the journal that a drive left behind.

import { join } from 'node:path'
import type { Intention } from '../../content/intention.ts'
import type { Unsent, UnsentState } from '../status.ts'

export interface UnsentFacts {
  readonly isRunning: boolean
  /** Epoch ms. */
  readonly now: number
  readonly spoolDir: string
}

export function unsentOf(intention: Intention, { isRunning, now, spoolDir }: UnsentFacts): Unsent {
  const { path, spool, size, sentBytes, attempts, lastError, since, notBefore } = intention
  return {
    path,
    action: actionOf(intention),
    state: stateOf(intention, isRunning, now),
    bytes: spool === undefined ? 0 : (size ?? 0),
    sentBytes: isRunning ? sentBytes : 0,
    attempts,
    lastError,
    since: new Date(since).toISOString(),
    nextAttemptAt: notBefore > now ? new Date(notBefore).toISOString() : undefined,
    spoolFile: spool === undefined ? undefined : join(spoolDir, spool),
  }
}

function actionOf({ kind, source, keepSource, base }: Intention): Unsent['action'] {
  if (kind !== 'put') return 'delete'
  if (source !== undefined && keepSource !== true) return 'rename'
  return base === undefined ? 'upload' : 'replace'
}

function stateOf(
  { isRefused, lastError, notBefore }: Intention,
  isRunning: boolean,
  now: number,
): UnsentState {
  if (isRefused) return 'refused'
  if (isRunning) return 'sending'
  return lastError !== undefined && notBefore > now ? 'retrying' : 'pending'
}
