// The daemon of a drive: starts the session, reports to the process that started it, and obeys signals until the drive ends.

import { notifyStarter } from '../daemon/background-start.ts'
import { desktopNotifications } from '../daemon/desktop-notifications.ts'
import { openLog } from '../daemon/log.ts'
import type { MountSession, SessionEnd } from '../daemon/mount-session.ts'
import { startSession, type StartSessionOptions } from '../daemon/start-session.ts'
import { notifySystemd, setSystemdStatus } from '../daemon/systemd-notify.ts'
import { userUnitOf } from '../daemon/user-units.ts'
import type { Log } from '../log.ts'
import { exitCodes } from './exit-codes.ts'
import { startOwnPage } from './own-page.ts'
import { showStatusItem } from './status-item.ts'
import { liveText } from './live-text.ts'
import { awayText } from './away-text.ts'
import { untilLoginText } from './systemd-unit.ts'
import { describeLeftUnsent } from './unsent-text.ts'

/** After the first signal, sending may take this long. */
const signalTimeoutMs = 10 * 60_000
/** After the drive has ended, the process may live this long for open calls and handles. */
const lastCallsMs = 3000

export interface ServeOptions {
  /** Undefined: standard error. */
  readonly logFile: string | undefined
  readonly isVerbose: boolean
  /** Serves a page about the drives for as long as this one lives. */
  readonly withPage: boolean
  /** Shows a status item in the desktop's tray. */
  readonly withItem: boolean
}

/** Resolves when the drive has ended, and sets the exit code. Throws the error that stopped the start. */
export async function serveMount(
  options: Omit<StartSessionOptions, 'log' | 'logFile' | 'isTraced'>,
  { logFile, isVerbose, withPage, withItem }: ServeOptions,
): Promise<void> {
  // A working folder would keep its file system busy, and could be inside the mount.
  process.chdir('/')
  const log = openLog({ file: logFile, isVerbose })
  let isLive = false
  endOnBug(log, () => {
    // If the start fails, the command line shows it.
    if (isLive && options.notifies) desktopNotifications(options.plan.project)({ kind: 'bug' })
  })
  const signals = listenForSignals(log)
  // Keeps the process alive: during the start, nothing else may be open while it waits.
  const keepAlive = setInterval(() => {}, 60_000)
  const session = await startSession({ ...options, log, logFile, isTraced: isVerbose }).finally(() =>
    clearInterval(keepAlive),
  )
  signals.obey(session)
  const { mountpoint, driver, webdav, stateDir } = session.record
  const page = withPage ? await startOwnPage({ opens: true }) : undefined
  const { away } = session.status()
  if (logFile === undefined) {
    console.log(await liveText(options.plan.project, { mountpoint, webdav }))
    if (away !== undefined) console.log(awayText(away.reason))
    if (page?.address !== undefined) console.log(page.address)
  }
  notifySystemd('ready')
  await notifyStarter({
    kind: 'live',
    pid: process.pid,
    mountpoint,
    driver,
    webdav,
    away: away?.reason,
    page: page?.address,
  })
  isLive = true
  if (withItem) showStatusItem(session, { log, page })

  const end = await session.finished
  page?.end()
  isLive = false
  process.exitCode = exitCodeOf(end)
  if (end.unsent.length > 0) {
    const left = describeLeftUnsent(end.unsent, stateDir)
    console.error(`docmount: ${left}`)
    setSystemdStatus(left)
  }
  if (end.reason === 'unmounted' && !end.isAsked) await notifyUntilLogin(options, log)
  setTimeout(() => process.exit(), lastCallsMs).unref()
}

/**
 * Ends the process at an unexpected error, as kill -9 would: saved content is safe then, but the state in memory cannot be
 * trusted. The error goes to our log, because Node would print all its properties, presigned URLs too.
 */
function endOnBug(log: Log, notify: () => void): void {
  process.on('uncaughtException', (error) => {
    log.error({ error }, 'a bug ended the daemon')
    notify()
    process.exit(exitCodes.failure)
  })
}

function exitCodeOf({ reason, unsent }: SessionEnd): number {
  if (reason === 'failed') return exitCodes.failure
  return unsent.length > 0 ? exitCodes.unsent : exitCodes.ok
}

/** Notifies the user who unmounted in a file manager or with umount that the unit mounts the drive again at the next login. */
async function notifyUntilLogin(
  { plan, notifies }: Omit<StartSessionOptions, 'log' | 'logFile' | 'isTraced'>,
  log: Log,
): Promise<void> {
  const unit = await userUnitOf(process.pid)
  if (unit?.isEnabled !== true) return
  log.info({}, untilLoginText(plan.project))
  if (notifies) desktopNotifications(plan.project)({ kind: 'untilLogin', project: plan.project })
}

/**
 * First signal: send, then unmount. Second: stop sending and detach; unsent changes stay in the journal. Third: end at once.
 * A signal during the start takes effect after it.
 */
function listenForSignals(log: Log): { obey(session: MountSession): void } {
  let count = 0
  let session: MountSession | undefined
  const react = (): void => {
    if (session === undefined || count === 0) return
    if (count >= 3) process.exit(exitCodes.unsent)
    if (count === 2) session.stopSending()
    notifySystemd('stopping')
    session.stop({ timeoutMs: signalTimeoutMs, force: count > 1, mayLose: true }).catch((error: unknown) => {
      // The next signal counts as the first again.
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
    obey(started) {
      session = started
      react()
    },
  }
}
