// What `docmount mount` does: in the background it starts itself anew and waits for the news; in the foreground it is the
// daemon until the drive ends.

import { realpath } from 'node:fs/promises'
import { join } from 'node:path'
import { isMimetype } from '../api/mimetypes.ts'
import { backgroundVariable, startInBackground, tellStarter } from '../daemon/background-start.ts'
import { DaemonError } from '../daemon/daemon-error.ts'
import { findLeftFolders, readLeftBehind } from '../daemon/left-behind.ts'
import { ensureFolders, type MountPlan, planMount } from '../daemon/mount-plan.ts'
import type { Unsent } from '../fs/status.ts'
import type { DriverName } from '../fuse/driver.ts'
import { passedDescriptor, resolveMountpoint } from '../fuse/mountpoint.ts'
import type { StartSessionOptions } from '../daemon/start-session.ts'
import { tidyState } from '../daemon/tidy-state.ts'
import { homeOf } from '../daemon/xdg.ts'
import { formatBytes } from '../amounts.ts'
import type { Address } from './address.ts'
import { type Configuration, noKeyMessage, readConfiguration } from './config-file.ts'
import { exitCodes } from './exit-codes.ts'
import { exitCodeOf, isKnown } from './report-error.ts'
import { leftElsewhere } from './left-text.ts'
import { askDrive, findDrive } from './find-drive.ts'
import { olderListing } from './older-listing.ts'
import { startProgress } from './progress.ts'
import { bytesOf } from './unsent-progress.ts'
import { shellWord } from './shell-word.ts'
import { UsageError } from './usage-error.ts'
import { liveText } from './live-text.ts'
import { defaultAddress, type WebdavCommandOptions, webdavSettingsOf } from './webdav-options.ts'

/** As commander hands them over; durations and sizes are numbers already. */
export interface DriveCommandOptions {
  readonly baseUrl?: string
  readonly foreground?: boolean
  readonly readOnly?: boolean
  readonly cacheTtl?: number
  readonly closeWait?: number
  readonly cacheSize?: number
  readonly pinSize?: number
  readonly memory?: number
  readonly stateDir?: string
  readonly cacheDir?: string
  readonly unsupportedAs?: string
  readonly onConflict: 'keep' | 'overwrite'
  readonly renameLimit?: number
  readonly tables?: boolean
  readonly bwlimit?: number | undefined
  readonly notify: boolean
  /** True: for as long as it takes. */
  readonly wait?: number | true
  readonly log?: string
  readonly verbose?: boolean
  readonly quiet?: boolean
}

export interface MountCommandOptions extends DriveCommandOptions, WebdavCommandOptions {
  readonly driver: DriverName | 'auto'
  /** What the mount table is to show as the drive's source. */
  readonly source?: string
  readonly allowOther?: boolean
  readonly uid?: number
  readonly gid?: number
  /** True: at the usual address. */
  readonly webdav?: Address | true
}

/** What makes one drive's command different from another's. */
export interface DriveCommand {
  readonly command: 'mount' | 'webdav'
  readonly project: string
  /** The arguments behind the command, for the daemon. */
  readonly args: readonly string[]
  readonly doors: Pick<StartSessionOptions, 'driver' | 'webdav' | 'makeMountpoint' | 'allowOther'>
  readonly owner?: { readonly uid?: number; readonly gid?: number }
  plan(configuration: Configuration): Promise<MountPlan>
}

/** `args` are the arguments behind `mount`, for the daemon. Sets the exit code; throws what stopped the start. */
export async function runMount(
  source: string,
  mountpoint: string | undefined,
  options: MountCommandOptions,
  args: readonly string[],
): Promise<void> {
  // fstab's device column ends in a colon, so that nobody takes it for a path.
  const project = source.replace(/:$/, '')
  const { driver, allowOther = false, webdav, uid, gid } = options
  await runDrive(options, {
    command: 'mount',
    project,
    args,
    doors: {
      driver,
      allowOther,
      makeMountpoint: mountpoint === undefined,
      webdav:
        webdav === undefined
          ? undefined
          : webdavSettingsOf(webdav === true ? defaultAddress : webdav, options),
    },
    owner: { ...(uid === undefined ? {} : { uid }), ...(gid === undefined ? {} : { gid }) },
    plan: (configuration) => planOf(project, mountpoint, options, configuration),
  })
}

/** Starts a drive behind the command line, or is its daemon. Sets the exit code; throws what stopped the start. */
export async function runDrive(options: DriveCommandOptions, command: DriveCommand): Promise<void> {
  const isBackgroundDaemon = process.env[backgroundVariable] === '1' && process.send !== undefined
  let plan: MountPlan | undefined
  try {
    const configuration = await readConfiguration(command.project)
    plan = await command.plan(configuration)
    if (configuration.key === undefined) throw new DaemonError(noKeyMessage)
    if (!isBackgroundDaemon) await tellOfOthers(plan)
    if (options.foreground !== true) {
      await startBehind(plan, command, options)
      return
    }
    const { serveMount } = await import('./serve-mount.ts')
    const logFile = isBackgroundDaemon || options.log !== undefined ? plan.logFile : undefined
    const session = sessionOptionsOf(plan, options, configuration.key, command)
    await serveMount(session, { logFile, isVerbose: options.verbose === true })
  } catch (error) {
    if (isBackgroundDaemon && error instanceof Error) await tellFailure(error, plan)
    // Of a bug the log stays. The daemon has let go of the folder when it tells.
    if (!isBackgroundDaemon && plan !== undefined && isToldWhole(error, plan)) await tidyState(plan)
    throw error
  }
}

async function startBehind(
  plan: MountPlan,
  { command, args }: DriveCommand,
  { wait, quiet: isQuiet = false }: DriveCommandOptions,
): Promise<void> {
  await ensureFolders(plan)
  const progress = startProgress(`${command === 'mount' ? 'mounting' : 'serving'} ${plan.project}`, {
    isQuiet,
    format: () => '',
  })
  if (wait !== undefined) progress.tell('waiting for the service')
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
    waitMs: wait === true ? Infinity : wait,
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

/** What was not sent when the drive ended last is on its way now. */
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

function waitMsOf({ wait }: DriveCommandOptions): number | undefined {
  return wait === true ? Infinity : wait
}

/** False for an error that leads to the log. */
function isToldWhole(error: unknown, { logFile }: MountPlan): boolean {
  return error instanceof Error && isKnown(error) && !error.message.includes(logFile)
}

/** What drives of the same project left behind elsewhere is sent by nobody, until somebody mounts them. */
async function tellOfOthers({ project, stateDir }: MountPlan): Promise<void> {
  const folders = await findLeftFolders()
  for (const folder of folders) {
    if (folder.drive?.project === project && folder.stateDir !== stateDir)
      console.error(`docmount: ${leftElsewhere(folder)}`)
  }
}

/** An unknown error is a bug: its stack goes into the log, and the person is told where. */
async function tellFailure(error: Error, plan: MountPlan | undefined): Promise<void> {
  const message = isKnown(error)
    ? error.message
    : `a bug ended the daemon (${error.message}); see ${plan?.logFile ?? 'its log'}`
  await tellStarter({ kind: 'failed', message, exitCode: exitCodeOf(error) })
}

/** Throws UsageError where none is configured, or it is no URL of a service. */
export function baseUrlOf(options: DriveCommandOptions, configuration: Configuration): string {
  const baseUrl = options.baseUrl ?? configuration.baseUrl
  if (baseUrl === undefined) {
    throw new UsageError('which service? Add --base-url URL, set DOCMOUNT_BASE_URL, or run docmount login')
  }
  if (!/^https?:\/\/[^/?#@]+(\/[^?#]*)?$/.test(baseUrl) || !URL.canParse(baseUrl)) {
    throw new UsageError('--base-url must look like https://host/api: scheme, host and path, nothing else')
  }
  return baseUrl
}

async function planOf(
  project: string,
  mountpoint: string | undefined,
  options: MountCommandOptions,
  configuration: Configuration,
): Promise<MountPlan> {
  const baseUrl = baseUrlOf(options, configuration)
  if (project === '' || (mountpoint === undefined && /^\.*$|\//.test(project))) {
    throw new UsageError(`"${project}" cannot name a folder in your home; give a mountpoint too`)
  }
  const { stateDir, cacheDir, log } = options
  const wanted = mountpoint ?? join(homeOf(), project)
  return planMount({
    project,
    baseUrl,
    mountpoint: await resolveMountpoint(wanted),
    source: options.source,
    descriptor: passedDescriptor(wanted),
    stateDir,
    cacheDir,
    logFile: log,
  })
}

function sessionOptionsOf(
  plan: MountPlan,
  options: DriveCommandOptions,
  key: StartSessionOptions['key'],
  { doors, owner }: DriveCommand,
): Omit<StartSessionOptions, 'log' | 'logFile' | 'isTraced'> {
  const { cacheTtl, closeWait, cacheSize, pinSize, memory, renameLimit, unsupportedAs } = options
  if (unsupportedAs !== undefined && !isMimetype(unsupportedAs)) {
    throw new UsageError(`--unsupported-as must be a type the service takes, like text/plain`)
  }
  return {
    plan,
    key,
    ...doors,
    showsTables: options.tables ?? false,
    notifies: options.notify,
    waitMs: waitMsOf(options),
    bytesPerSecond: options.bwlimit,
    fileSystem: {
      readOnly: options.readOnly ?? false,
      onConflict: options.onConflict,
      ...(cacheTtl === undefined ? {} : { cacheTtlMs: cacheTtl }),
      ...(closeWait === undefined ? {} : { closeWaitMs: closeWait }),
      ...(cacheSize === undefined ? {} : { cacheSizeBytes: cacheSize }),
      ...(pinSize === undefined ? {} : { pinSizeBytes: pinSize }),
      ...(memory === undefined ? {} : { memoryBytes: memory }),
      ...(renameLimit === undefined ? {} : { renameLimit }),
      ...(unsupportedAs === undefined ? {} : { unsupportedAs }),
      ...owner,
    },
  }
}
