// `mount --wait`: nothing is begun before the service answers, or the time is over.

import { setTimeout as sleep } from 'node:timers/promises'
import type { Client } from '../api/client.ts'
import { isTemporary } from '../api/errors.ts'
import type { Log } from '../log.ts'

const firstPauseMs = 1_000
const longestPauseMs = 15_000
const questionMs = 5_000

/** Resolves when the service has answered anything that waiting will not change, or after `waitMs`. Never rejects. */
export async function waitForService(
  client: Client,
  project: string,
  { waitMs, log }: { waitMs: number; log: Log },
): Promise<void> {
  const until = performance.now() + waitMs
  for (let pauseMs = firstPauseMs; ; pauseMs = Math.min(pauseMs * 2, longestPauseMs)) {
    const error = await client
      .files(project)
      .get('/', { attempts: 1, deadlineMs: questionMs, reconnect: true })
      .then(
        () => undefined,
        (reason: unknown) => reason,
      )
    const leftMs = until - performance.now()
    if (!isTemporary(error) || leftMs <= 0) return
    log.info({ reason: String(error) }, 'waiting for the service')
    await sleep(Math.min(pauseMs, leftMs))
  }
}
