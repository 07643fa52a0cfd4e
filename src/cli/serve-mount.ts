// Being the daemon: starts the session, tells whoever waits, obeys signals until the drive has ended.

import { tellStarter } from '../daemon/background-start.ts'
import { desktopNotifications } from '../daemon/desktop-notifications.ts'
import { openLog } from '../daemon/log.ts'
import type { MountSession, SessionEnd } from '../daemon/mount-session.ts'
import { startSession, type StartSessionOptions } from '../daemon/start-session.ts'
import { notifySystemd, saySystemd } from '../daemon/systemd-notify.ts'
import { userUnitOf } from '../daemon/user-units.ts'
import type { Log } from '../log.ts'
import { exitCodes } from './exit-codes.ts'
import { liveText } from './live-text.ts'
import { olderListing } from './older-listing.ts'
import { untilLogin } from './systemd-unit.ts'
import { describeLeftUnsent } from './unsent-text.ts'

/** A signal gives sending this long; a second signal ends it. */
const signalTimeoutMs = 10 * 60_000
/** After the end nothing should keep the process; what does is cut off. */
const lastCallsMs = 3000

export interface ServeOptions {
  /** Undefined: standard error. */
  readonly logFile: string | undefined
  readonly isVerbose: boolean
}

/** Resolves when the drive has ended, with the exit code set. Throws what stopped the start. */
export async function serveMount(
  options: Omit<StartSessionOptions, 'log' | 'logFile' | 'isTraced'>,
  { logFile, isVerbose }: ServeOptions,
): Promise<void> {
  // The daemon holds no working folder, least of all one inside the mount.
  process.chdir('/')
  const log = openLog({ file: logFile, isVerbose })
  let isLive = false
  endOnBug(log, () => {
    // Of a start that fails the command line tells.
    if (isLive && options.notifies) desktopNotifications(options.plan.project)({ kind: 'bug' })
  })
  const signals = listenForSignals(log)
  // Waits of a start are idle ones, and would let the process end without a word where nothing else is open yet.
  const awake = setInterval(() => {}, 60_000)
  const session = await startSession({ ...options, log, logFile, isTraced: isVerbose }).finally(() =>
    clearInterval(awake),
  )
  signals.obey(session)
  const { mountpoint, driver, webdav, stateDir } = session.record
  const { away } = session.status()
  if (logFile === undefined) {
    console.log(await liveText(options.plan.project, { mountpoint, webdav }))
    if (away !== undefined) console.log(olderListing(away.reason))
  }
  notifySystemd('ready')
  await tellStarter({ kind: 'live', pid: process.pid, mountpoint, driver, webdav, away: away?.reason })
  isLive = true

  const end = await session.finished
  isLive = false
  process.exitCode = exitCodeOf(end)
  if (end.unsent.length > 0) {
    const left = describeLeftUnsent(end.unsent, stateDir)
    console.error(`docmount: ${left}`)
    saySystemd(left)
  }
  if (end.reason === 'unmounted' && !end.isAsked) await tellUntilLogin(options, log)
  setTimeout(() => process.exit(), lastCallsMs).unref()
}

/**
 * Errors that no code expected end the daemon as kill -9 would: no saved content is lost by it, and the rest of its
 * state can no longer be trusted. It is our log that tells of it and not Node, which writes down all an error
 * carries, presigned URLs too.
 */
function endOnBug(log: Log, tell: () => void): void {
  process.on('uncaughtException', (error) => {
    log.error({ error }, 'a bug ended the daemon')
    tell()
    process.exit(exitCodes.failure)
  })
}

function exitCodeOf({ reason, unsent }: SessionEnd): number {
  if (reason === 'failed') return exitCodes.failure
  return unsent.length > 0 ? exitCodes.unsent : exitCodes.ok
}

/** Eject in a file manager, or umount: nobody else tells the person. */
async function tellUntilLogin(
  { plan, notifies }: Omit<StartSessionOptions, 'log' | 'logFile' | 'isTraced'>,
  log: Log,
): Promise<void> {
  const unit = await userUnitOf(process.pid)
  if (unit?.isEnabled !== true) return
  log.info({}, untilLogin(plan.project))
  if (notifies) desktopNotifications(plan.project)({ kind: 'untilLogin', project: plan.project })
}

/**
 * First signal: send, then unmount. Second: stop sending and detach, everything stays journaled. Third: end at once.
 * A signal that comes during the start is obeyed after it.
 */
function listenForSignals(log: Log): { obey(session: MountSession): void } {
  let count = 0
  let session: MountSession | undefined
  const react = (): void => {
    if (session === undefined || count === 0) return
    if (count >= 3) process.exit(exitCodes.unsent)
    if (count === 2) session.hurry()
    notifySystemd('stopping')
    session.stop({ timeoutMs: signalTimeoutMs, force: count > 1, mayLose: true }).catch((error: unknown) => {
      count = 0
      log.error({ error }, 'the drive stays')
    })
  }
  for (const name of ['SIGTERM', 'SIGINT', 'SIGHUP'] as const) {
    process.on(name, () => {
      count += 1
      log.info({ signal: name, count }, 'asked to stop')
      react()
    })
  }
  return {
    obey(live) {
      session = live
      react()
    },
  }
}
