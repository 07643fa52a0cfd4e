// `mount --wait`: the mount starts only when the service answers, or the time is over.

import { setTimeout as sleep } from 'node:timers/promises'
import type { Client } from '../api/client.ts'
import { isTemporary } from '../api/errors.ts'
import { doublingMs } from '../backoff.ts'
import type { Log } from '../log.ts'
import { systemChance } from '../world/chance.ts'

const pauses = { firstMs: 1_000, longestMs: 15_000 }
const requestMs = 5_000

/** Resolves when the service gives any answer but a temporary error, or after `waitMs`. Never rejects. */
export async function waitForService(
  client: Client,
  project: string,
  { waitMs, log }: { waitMs: number; log: Log },
): Promise<void> {
  const until = performance.now() + waitMs
  for (let attempts = 1; ; attempts++) {
    // `reconnect`: the old connection may be dead.
    const error = await client
      .files(project)
      .get('/', { attempts: 1, deadlineMs: requestMs, reconnect: true })
      .then(
        () => undefined,
        (reason: unknown) => reason,
      )
    const leftMs = until - performance.now()
    if (!isTemporary(error) || leftMs <= 0) return
    log.info({ reason: String(error) }, 'waiting for the service')
    const pauseMs = doublingMs(attempts, pauses, () => systemChance.random())
    await sleep(Math.min(pauseMs, leftMs))
  }
}
