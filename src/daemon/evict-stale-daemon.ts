// Earlier daemons that are in the way of a new mount. If the earlier drive is live, the new mount is refused. If its mount is gone
// (another program unmounted it) and its daemon still sends, that is asked to stop, and the new one continues from the journal.
// Each door calls `refuseSecond` and then `evictStaleDaemon` before it opens.

import { connect } from 'node:net'
import { dirname } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { findOurMount } from '../fuse/mountinfo.ts'
import { ask } from './control-client.ts'
import { DaemonError } from './daemon-error.ts'
import type { MountPlan } from './mount-plan.ts'
import { isAlive, type MountRecord, removeMountRecord } from './mount-record.ts'
import { readOwnRecords, readRecordsOfOtherHomes } from './own-records.ts'

/** Time that an earlier daemon gets to end. */
const goneWithinMs = 10_000

/** Resolves with the record of the planned drive if it is live already. */
export async function liveDriveOf({
  id,
  runtimeDir,
  descriptor,
}: MountPlan): Promise<MountRecord | undefined> {
  // The mount of a passed descriptor is new, and has no daemon.
  if (descriptor !== undefined) return undefined
  const own = await readOwnRecords(runtimeDir)
  for (const record of [...own, ...(await readRecordsOfOtherHomes(own))]) {
    if (record.id !== id || !(await isAlive(record))) continue
    const isThere =
      record.driver === 'webdav'
        ? await isListening(record.mountpoint)
        : (await findOurMount(record.mountpoint)) !== undefined
    if (isThere) return record
  }
  return undefined
}

/** Throws a DaemonError that says where the drive is, if it is live already. */
export async function refuseSecond(plan: MountPlan): Promise<void> {
  const live = await liveDriveOf(plan)
  if (live !== undefined) throw new DaemonError(`${describeLiveDrive(live)} (process ${live.pid})`)
}

/** Returns a sentence that says where the drive is live. */
export function describeLiveDrive({ project, driver, mountpoint }: MountRecord): string {
  return `${project} is ${driver === 'webdav' ? 'served' : 'mounted'} at ${mountpoint} already`
}

/** Stops the daemon of an earlier mount at the same place. Throws a DaemonError if it does not end: it locks the state folder. */
export async function evictStaleDaemon(plan: MountPlan): Promise<void> {
  const record = await findEarlierDaemon(plan)
  if (record === undefined) return
  // A drive is mounted there by now, which `reserveMountpoint` refuses: nothing is stopped in vain.
  if (plan.descriptor === undefined && (await findOurMount(plan.mountpoint)) !== undefined) return
  const signal = AbortSignal.timeout(goneWithinMs)
  await ask(record.socketPath, 'unmount', { force: true, timeoutMs: 0 }, { signal }).catch(() => {
    // The loop below finds out if it ends.
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

/** Resolves with the earlier daemon's record if it runs. Removes records of dead ones from other runtime folders. */
async function findEarlierDaemon({ id, runtimeDir }: MountPlan): Promise<MountRecord | undefined> {
  let live: MountRecord | undefined
  for (const record of await readOwnRecords(runtimeDir)) {
    if (record.id !== id) continue
    const folder = dirname(record.socketPath)
    if (await isAlive(record)) live = record
    else if (folder !== runtimeDir) await removeMountRecord(folder, id)
  }
  return live
}

/** False for a daemon that has closed its WebDAV door and only sends unsent changes. */
function isListening(url: string): Promise<boolean> {
  const { hostname, port, protocol } = new URL(url)
  const host = hostname.replace(/^\[|\]$/g, '')
  return new Promise((resolve) => {
    const socket = connect({ host, port: Number(port) || (protocol === 'https:' ? 443 : 80), timeout: 2_000 })
    const resolveWith = (answer: boolean) => (): void => {
      socket.destroy()
      resolve(answer)
    }
    socket
      .once('connect', resolveWith(true))
      .once('error', resolveWith(false))
      .once('timeout', resolveWith(false))
  })
}
