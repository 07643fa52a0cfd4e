// Starts a drive in the background: runs this program again as a daemon, and shows progress until the drive is live.

import { realpath } from 'node:fs/promises'
import { formatBytes } from '../amounts.ts'
import { startInBackground } from '../daemon/background-start.ts'
import { CommandError } from './command-error.ts'
import { checkOwner } from '../daemon/drive-file.ts'
import { readLeftBehind } from '../daemon/left-behind.ts'
import { ensureFolders, type MountPlan } from '../daemon/mount-plan.ts'
import type { Unsent } from '../fs/status.ts'
import { exitCodes } from './exit-codes.ts'
import { askDrive, findDrive } from './find-drive.ts'
import { liveText } from './live-text.ts'
import { awayText } from './away-text.ts'
import { startProgress } from './progress.ts'
import { shellWord } from './shell-word.ts'
import { bytesOf } from './unsent-progress.ts'
import { UsageError } from './usage-error.ts'

export interface StartOptions {
  /** How long to wait for the service before the start; undefined: not at all. */
  readonly waitMs: number | undefined
  readonly isQuiet: boolean | undefined
}

/** Resolves when the drive is live. Throws CommandError or UsageError with the message of a daemon that could not start. */
export async function startBackgroundDrive(
  plan: MountPlan,
  { command, args }: { readonly command: 'mount' | 'webdav'; readonly args: readonly string[] },
  { waitMs, isQuiet = false }: StartOptions,
): Promise<void> {
  await ensureFolders(plan)
  // Here too, so that no progress tells of another project's changes.
  await checkOwner(plan)
  const progress = startProgress(`${command === 'mount' ? 'mounting' : 'serving'} ${plan.project}`, {
    isQuiet,
    format: () => '',
  })
  if (waitMs !== undefined) progress.setNote('waiting for the service')
  else {
    const { unsent } = await readLeftBehind(plan.stateDir)
    if (unsent.length > 0) progress.setNote(`taking up ${backlogOf(unsent)} of before`)
  }
  const news = await startInBackground({
    // Resolved, because under the name mount.docmount it would expect mount(8)'s arguments.
    script: await realpath(process.argv[1] as string),
    args: [command, '--foreground', ...args],
    logFile: plan.logFile,
    descriptor: plan.descriptor,
    waitMs,
  }).finally(() => progress.end())
  if (news.kind === 'live') {
    if (isQuiet) return
    console.log(await liveText(plan.project, news))
    if (news.away !== undefined) console.log(awayText(news.away))
    if (news.page !== undefined) console.log(news.page)
    await printBacklog(news.mountpoint)
    return
  }
  if (news.exitCode === exitCodes.usage) throw new UsageError(news.message)
  throw new CommandError(news.message, { isTemporary: news.exitCode === exitCodes.temporary })
}

/** Prints how much the last mount left unsent, which is sent now. */
async function printBacklog(mountpoint: string): Promise<void> {
  const { found } = await findDrive(mountpoint)
  const { unsent } = await askDrive(found, 'status', {})
  if (unsent.length === 0) return
  console.log(
    `${backlogOf(unsent)} of before to be sent; docmount wait ${shellWord(mountpoint)} waits for it`,
  )
}

/** Returns `3 changes (1.2 MiB)`. */
function backlogOf(unsent: readonly Unsent[]): string {
  const changes = unsent.length === 1 ? '1 change' : `${unsent.length} changes`
  return `${changes} (${formatBytes(bytesOf(unsent))})`
}
