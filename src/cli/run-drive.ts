// Implements what `mount` and `webdav` share. Without --foreground, the command starts itself again as a daemon, with
// --foreground, and waits until the drive is live; with it, the process is the daemon until the drive ends.

import type { Mimetype } from '../api/mimetypes.ts'
import { backgroundVariable, notifyStarter } from '../daemon/background-start.ts'
import { CommandError } from './command-error.ts'
import { findLeftFolders } from '../daemon/left-behind.ts'
import type { MountPlan } from '../daemon/mount-plan.ts'
import { checkOpenFileLimit } from '../daemon/open-files.ts'
import type { StartSessionOptions } from '../daemon/start-session.ts'
import { setSystemdStatus } from '../daemon/systemd-notify.ts'
import { liveDriveOf } from '../daemon/evict-stale-daemon.ts'
import { tidyState } from '../daemon/tidy-state.ts'
import { type Configuration, noKeyMessage, readConfiguration } from './config-file.ts'
import { lastingKey } from './lasting-key.ts'
import { leftOnOtherDrive, leftForOtherUrl } from './left-text.ts'
import { exitCodeOf, isKnown } from './report-error.ts'
import { startBackgroundDrive } from './start-background.ts'
import { reportAlreadyRunning } from './already-running.ts'
import { UsageError } from './usage-error.ts'

/** Options as commander parsed them: durations in milliseconds, sizes in bytes. */
export interface DriveCommandOptions {
  readonly baseUrl?: string
  readonly proxy?: string
  readonly caFile?: string
  readonly foreground?: boolean
  readonly readOnly?: boolean
  readonly cacheTtl?: number
  readonly closeWait?: number
  readonly cacheSize?: number
  readonly pinSize?: number
  readonly undo?: number
  readonly undoSize?: number
  readonly shareLocks?: boolean
  readonly undoFetch?: number
  readonly memory?: number
  readonly stateDir?: string
  readonly cacheDir?: string
  readonly unsupportedAs?: Mimetype
  readonly onConflict: 'keep' | 'overwrite'
  readonly renameLimit?: number
  readonly tables?: boolean
  readonly bwlimit?: number | undefined
  readonly notify: boolean
  readonly tray: boolean
  /** How long the start waits for a service that does not answer (ms); true: without a limit. */
  readonly wait?: number | true
  readonly log?: string
  readonly verbose?: boolean
  readonly quiet?: boolean
  /** Serves the page of `docmount ui` as long as the drive lives. */
  readonly ui?: boolean
}

/** The differences between `mount` and `webdav`. */
export interface DriveCommand {
  readonly command: 'mount' | 'webdav'
  readonly project: string
  /** The command line's arguments after the command, which the daemon gets, too. */
  readonly args: readonly string[]
  readonly doors: Pick<
    StartSessionOptions,
    'driver' | 'webdav' | 'makeMountpoint' | 'allowOther' | 'liveFolders' | 'hasAttributes'
  >
  /** Owner of the documents. Default: this user. */
  readonly owner?: { readonly uid?: number; readonly gid?: number }
  /** Computes the drive's id and paths; creates nothing. Throws UsageError for options that do not fit. */
  plan(configuration: Configuration): Promise<MountPlan>
}

/** Starts a drive in the background, or is its daemon. Throws the error that stopped the start. */
export async function runDrive(options: DriveCommandOptions, command: DriveCommand): Promise<void> {
  const isBackgroundDaemon = process.env[backgroundVariable] === '1' && process.send !== undefined
  let plan: MountPlan | undefined
  try {
    await checkOpenFileLimit()
    const configuration = await readConfiguration(command.project)
    plan = await command.plan(configuration)
    if (configuration.key === undefined) throw new CommandError(noKeyMessage)
    if (!isBackgroundDaemon) await reportOtherLeftovers(plan)
    // In the foreground, as every daemon is, the session itself refuses a drive that is live already (`refuseSecond`).
    if (options.foreground !== true) {
      const live = await liveDriveOf(plan)
      if (live !== undefined) {
        await reportAlreadyRunning(live, command, options.quiet === true)
        return
      }
      await startBackgroundDrive(plan, command, { waitMs: waitMsOf(options), isQuiet: options.quiet })
      return
    }
    const { serveMount } = await import('./serve-mount.ts')
    const logFile = isBackgroundDaemon || options.log !== undefined ? plan.logFile : undefined
    const session = sessionOptionsOf(plan, options, lastingKey(configuration.key, plan), command)
    await serveMount(session, {
      logFile,
      isVerbose: options.verbose === true,
      withPage: options.ui === true,
      withItem: options.tray,
    })
  } catch (error) {
    if (error instanceof Error) {
      const message = messageOf(error, plan)
      setSystemdStatus(message)
      if (isBackgroundDaemon) await notifyStarter({ kind: 'failed', message, exitCode: exitCodeOf(error) })
    }
    // The daemon has released the state folder when it reports its failure. The folder is kept if the log in it is needed.
    if (!isBackgroundDaemon && plan !== undefined && !needsLog(error, plan)) await tidyState(plan)
    throw error
  }
}

/** True for a bug, and for an error whose message names the log. */
function needsLog(error: unknown, { logFile }: MountPlan): boolean {
  return !(error instanceof Error) || !isKnown(error) || error.message.includes(logFile)
}

/**
 * Warns about unsent changes of the project's other drives, which are sent only when those are mounted; and about those in this
 * drive's state folder that were meant for another URL, because they are sent to this one now.
 */
async function reportOtherLeftovers({ project, stateDir, baseUrl }: MountPlan): Promise<void> {
  const folders = await findLeftFolders()
  for (const folder of folders) {
    if (folder.drive?.project !== project) continue
    if (folder.stateDir !== stateDir) console.error(`docmount: ${leftOnOtherDrive(folder)}`)
    else if (folder.drive.baseUrl !== baseUrl) console.error(`docmount: ${leftForOtherUrl(folder, baseUrl)}`)
  }
}

/** Returns the error's message; for a bug, a message that names the log, which has the stack. */
function messageOf(error: Error, plan: MountPlan | undefined): string {
  return isKnown(error)
    ? error.message
    : `a bug ended the daemon (${error.message}); see ${plan?.logFile ?? 'its log'}`
}

/** Returns the service's URL. Throws UsageError if none is configured, or it is not a valid one. */
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

function waitMsOf({ wait }: DriveCommandOptions): number | undefined {
  return wait === true ? Infinity : wait
}

function sessionOptionsOf(
  plan: MountPlan,
  options: DriveCommandOptions,
  key: StartSessionOptions['key'],
  { doors, owner }: DriveCommand,
): Omit<StartSessionOptions, 'log' | 'logFile' | 'isTraced'> {
  const {
    cacheTtl,
    closeWait,
    cacheSize,
    pinSize,
    undo,
    undoSize,
    undoFetch,
    memory,
    renameLimit,
    unsupportedAs,
  } = options
  return {
    plan,
    key,
    ...doors,
    showsTables: options.tables ?? false,
    notifies: options.notify,
    network: { proxy: options.proxy, caFile: options.caFile },
    waitMs: waitMsOf(options),
    bytesPerSecond: options.bwlimit,
    fileSystem: {
      readOnly: options.readOnly ?? false,
      shareLocks: options.shareLocks ?? false,
      onConflict: options.onConflict,
      ...(cacheTtl === undefined ? {} : { cacheTtlMs: cacheTtl }),
      ...(closeWait === undefined ? {} : { closeWaitMs: closeWait }),
      ...(cacheSize === undefined ? {} : { cacheSizeBytes: cacheSize }),
      ...(pinSize === undefined ? {} : { pinSizeBytes: pinSize }),
      ...(undo === undefined ? {} : { undoMs: undo }),
      ...(undoSize === undefined ? {} : { undoSizeBytes: undoSize }),
      ...(undoFetch === undefined ? {} : { undoFetchBytes: undoFetch }),
      ...(memory === undefined ? {} : { memoryBytes: memory }),
      ...(renameLimit === undefined ? {} : { renameLimit }),
      ...(unsupportedAs === undefined ? {} : { unsupportedAs }),
      ...owner,
    },
  }
}
