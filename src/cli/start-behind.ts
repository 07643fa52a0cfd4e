// A drive in the background: this program started anew, and what the person is told until it is live.

import { realpath } from 'node:fs/promises'
import { formatBytes } from '../amounts.ts'
import { startInBackground } from '../daemon/background-start.ts'
import { DaemonError } from '../daemon/daemon-error.ts'
import { readLeftBehind } from '../daemon/left-behind.ts'
import { ensureFolders, type MountPlan } from '../daemon/mount-plan.ts'
import type { Unsent } from '../fs/status.ts'
import { exitCodes } from './exit-codes.ts'
import { askDrive, findDrive } from './find-drive.ts'
import { liveText } from './live-text.ts'
import { olderListing } from './older-listing.ts'
import { startProgress } from './progress.ts'
import { shellWord } from './shell-word.ts'
import { bytesOf } from './unsent-progress.ts'
import { UsageError } from './usage-error.ts'

export interface StartWishes {
  /** How long to wait for the service first; undefined: not at all. */
  readonly waitMs: number | undefined
  readonly isQuiet: boolean | undefined
}

/** Returns when the drive is live and the person knows. Throws DaemonError, UsageError: what the daemon told of its start. */
export async function startBehind(
  plan: MountPlan,
  { command, args }: { readonly command: 'mount' | 'webdav'; readonly args: readonly string[] },
  { waitMs, isQuiet = false }: StartWishes,
): Promise<void> {
  await ensureFolders(plan)
  const progress = startProgress(`${command === 'mount' ? 'mounting' : 'serving'} ${plan.project}`, {
    isQuiet,
    format: () => '',
  })
  if (waitMs !== undefined) progress.tell('waiting for the service')
  else {
    const { unsent } = await readLeftBehind(plan.stateDir)
    if (unsent.length > 0) progress.tell(`taking up ${backlogOf(unsent)} of before`)
  }
  const news = await startInBackground({
    // By its own name, whatever link mount(8) came through.
    script: await realpath(process.argv[1] as string),
    args: [command, '--foreground', ...args],
    logFile: plan.logFile,
    descriptor: plan.descriptor,
    waitMs,
  }).finally(() => progress.end())
  if (news.kind === 'live') {
    if (isQuiet) return
    console.log(await liveText(plan.project, news))
    if (news.away !== undefined) console.log(olderListing(news.away))
    await tellBacklog(news.mountpoint)
    return
  }
  if (news.exitCode === exitCodes.usage) throw new UsageError(news.message)
  throw new DaemonError(news.message, { isTemporary: news.exitCode === exitCodes.temporary })
}

/** Tells how much the last mount left unsent: it is on its way now. */
async function tellBacklog(mountpoint: string): Promise<void> {
  const { found } = await findDrive(mountpoint)
  const { unsent } = await askDrive(found, 'status', {})
  if (unsent.length === 0) return
  console.log(
    `${backlogOf(unsent)} of before to be sent; docmount wait ${shellWord(mountpoint)} waits for it`,
  )
}

/** `3 changes (1.2 MiB)` */
function backlogOf(unsent: readonly Unsent[]): string {
  const changes = unsent.length === 1 ? '1 change' : `${unsent.length} changes`
  return `${changes} (${formatBytes(bytesOf(unsent))})`
}
