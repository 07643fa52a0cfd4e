// A daemon may outlive its mount: unmounted by somebody else, it goes on sending. A new mount at the same place asks it
// to stop and resumes its work from the journal.

import { dirname } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { findOurMount } from '../fuse/mountinfo.ts'
import { ask } from './control-client.ts'
import { DaemonError } from './daemon-error.ts'
import type { MountPlan } from './mount-plan.ts'
import { isAlive, type MountRecord, removeMountRecord } from './mount-record.ts'
import { readOwnRecords } from './own-records.ts'

const goneWithinMs = 10_000

/** Throws a DaemonError when the earlier daemon does not go, since it holds the state folder. */
export async function takeOver(plan: MountPlan): Promise<void> {
  const record = await findLive(plan)
  if (record === undefined) return
  if (plan.descriptor === undefined && (await findOurMount(plan.mountpoint)) !== undefined) return
  const signal = AbortSignal.timeout(goneWithinMs)
  await ask(record.socketPath, 'unmount', { force: true, timeoutMs: 0 }, { signal }).catch(() => {
    // Whether it goes is seen below.
  })
  const deadline = performance.now() + goneWithinMs
  while (await isAlive(record)) {
    if (performance.now() > deadline) {
      throw new DaemonError(
        `an earlier docmount (process ${record.pid}) still serves programs that use ${plan.mountpoint}; close them`,
      )
    }
    await sleep(100)
  }
}

/** The earlier daemon, where it lives. What dead ones wrote in other runtime folders would be taken for drives: it goes. */
async function findLive({ id, runtimeDir }: MountPlan): Promise<MountRecord | undefined> {
  let live: MountRecord | undefined
  for (const record of await readOwnRecords(runtimeDir)) {
    if (record.id !== id) continue
    const folder = dirname(record.socketPath)
    if (await isAlive(record)) live = record
    else if (folder !== runtimeDir) await removeMountRecord(folder, id)
  }
  return live
}
