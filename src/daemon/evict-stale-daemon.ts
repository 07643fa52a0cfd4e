// A daemon may outlive its mount: unmounted by somebody else, it goes on sending. A new mount at the same place asks it
// to stop and resumes its work from the journal.

import { connect } from 'node:net'
import { dirname } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { findOurMount } from '../fuse/mountinfo.ts'
import { ask } from './control-client.ts'
import { DaemonError } from './daemon-error.ts'
import type { MountPlan } from './mount-plan.ts'
import { isAlive, type MountRecord, removeMountRecord } from './mount-record.ts'
import { readOwnRecords, readRecordsOfOtherHomes } from './own-records.ts'

const goneWithinMs = 10_000

/** The drive that the plan would make, where it is there already. */
export async function liveDriveOf({
  id,
  runtimeDir,
  descriptor,
}: MountPlan): Promise<MountRecord | undefined> {
  // A descriptor that was mounted for us just now has no drive yet.
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

/** Throws a DaemonError that says where the drive is, when it is there already: nobody else can be its daemon. */
export async function refuseSecond(plan: MountPlan): Promise<void> {
  const live = await liveDriveOf(plan)
  if (live !== undefined) throw new DaemonError(`${thereAlready(live)} (process ${live.pid})`)
}

/** In words. */
export function thereAlready({ project, driver, mountpoint }: MountRecord): string {
  return `${project} is ${driver === 'webdav' ? 'served' : 'mounted'} at ${mountpoint} already`
}

/** Throws a DaemonError when the earlier daemon does not go, since it holds the state folder. */
export async function evictStaleDaemon(plan: MountPlan): Promise<void> {
  const record = await findLive(plan)
  if (record === undefined) return
  if (plan.descriptor === undefined && (await findOurMount(plan.mountpoint)) !== undefined) return
  const signal = AbortSignal.timeout(goneWithinMs)
  await ask(record.socketPath, 'unmount', { force: true, timeoutMs: 0 }, { signal }).catch(() => {
    // The loop below sees whether it goes.
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

/** The earlier daemon, where it lives. Records of dead ones in other runtime folders would pass for drives: they go. */
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

/** A daemon that only sends what is left listens no more. */
function isListening(url: string): Promise<boolean> {
  const { hostname, port, protocol } = new URL(url)
  const host = hostname.replace(/^\[|\]$/g, '')
  return new Promise((resolve) => {
    const socket = connect({ host, port: Number(port) || (protocol === 'https:' ? 443 : 80), timeout: 2_000 })
    const tell = (answer: boolean) => (): void => {
      socket.destroy()
      resolve(answer)
    }
    socket.once('connect', tell(true)).once('error', tell(false)).once('timeout', tell(false))
  })
}
