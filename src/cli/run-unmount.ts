// What `docmount unmount` does: asks the daemon, or clears away what a dead one left.

import { dirname } from 'node:path'
import type { UnmountProgress } from '../daemon/control-protocol.ts'
import { DaemonError } from '../daemon/daemon-error.ts'
import type { FoundMount } from '../daemon/find-mount.ts'
import { isDisconnected } from '../fuse/mountpoint.ts'
import { readLeftBehind } from '../daemon/left-behind.ts'
import { removeMountRecord } from '../daemon/mount-record.ts'
import { unmount } from '../fuse/unmount.ts'
import { exitCodes } from './exit-codes.ts'
import { askDrive, findDrive, interruptSignal } from './find-drive.ts'
import { startUnsentProgress } from './unsent-progress.ts'
import { describeLeftUnsent } from './unsent-text.ts'

export interface UnmountOptions {
  readonly force: boolean
  readonly timeoutMs: number
  readonly quiet?: boolean | undefined
}

/** Sets the exit code: a failure when anything is unsent. */
export async function runUnmount(mountpoint: string, options: UnmountOptions): Promise<void> {
  const { found, path } = await findDrive(mountpoint)
  if (path !== '/') {
    throw new DaemonError(
      `${mountpoint} lies on the drive ${found.mountpoint}; run: docmount unmount ${found.mountpoint}`,
    )
  }
  if (found.isDaemonAlive) await unmountLive(found, options)
  else await clearAway(found)
}

async function unmountLive(found: FoundMount, options: UnmountOptions): Promise<void> {
  const line = progressLine(options.quiet === true)
  const timeoutMs = Math.min(options.timeoutMs, 2 ** 31 - 1)
  const answer = await askDrive(
    found,
    'unmount',
    { force: options.force, timeoutMs },
    { onProgress: line.show, signal: interruptSignal() },
  ).finally(line.clear)
  if (answer.isDetached) {
    console.error(
      `docmount: ${found.mountpoint} is detached; programs that still use it are served until they end`,
    )
  }
  if (answer.unsent.length > 0) {
    console.error(`docmount: ${describeLeftUnsent(answer.unsent, found.record?.stateDir)}`)
    process.exitCode = exitCodes.failure
  }
}

/** No daemon is left to ask. */
async function clearAway(found: FoundMount): Promise<void> {
  const { mountpoint, mount, record } = found
  if (mount !== undefined) {
    if (!(await isDisconnected(mountpoint))) {
      throw new DaemonError(`${mountpoint} is served by another user's docmount; run this as that user`)
    }
    await unmount(mountpoint, { lazy: true })
  }
  console.error(`docmount: the daemon of ${mountpoint} was gone; its mount is cleared away`)
  if (record === undefined) return
  await removeMountRecord(dirname(record.socketPath), record.id)
  const { unsent } = await readLeftBehind(record.stateDir)
  if (unsent.length === 0) return
  console.error(`docmount: ${describeLeftUnsent(unsent, record.stateDir)}`)
  process.exitCode = exitCodes.failure
}

/** A bar on a terminal; elsewhere a line now and then, and each new hindrance is said once. */
function progressLine(isQuiet: boolean): { show: (progress: UnmountProgress) => void; clear: () => void } {
  const line = startUnsentProgress('unmounting', isQuiet)
  let last = ''
  return {
    show(progress) {
      line.update(progress)
      if (progress.busy === undefined) return
      const text = `in use by ${progress.busy}; waiting (--force detaches)`
      line.hindered(text)
      if (!process.stderr.isTTY && text !== last && !isQuiet) console.error(text)
      last = text
    },
    clear: () => line.end(),
  }
}
