// A command that is a drive: in the background it starts itself anew and waits for the news; in the foreground it is
// the daemon until the drive ends.

import type { Mimetype } from '../api/mimetypes.ts'
import { backgroundVariable, tellStarter } from '../daemon/background-start.ts'
import { DaemonError } from '../daemon/daemon-error.ts'
import { findLeftFolders } from '../daemon/left-behind.ts'
import type { MountPlan } from '../daemon/mount-plan.ts'
import { checkOpenFiles } from '../daemon/open-files.ts'
import type { StartSessionOptions } from '../daemon/start-session.ts'
import { saySystemd } from '../daemon/systemd-notify.ts'
import { liveDriveOf } from '../daemon/evict-stale-daemon.ts'
import { tidyState } from '../daemon/tidy-state.ts'
import { type Configuration, noKeyMessage, readConfiguration } from './config-file.ts'
import { lastingKey } from './lasting-key.ts'
import { leftElsewhere, leftToGoElsewhere } from './left-text.ts'
import { exitCodeOf, isKnown } from './report-error.ts'
import { startBehind } from './start-behind.ts'
import { tellThereAlready } from './there-already.ts'
import { UsageError } from './usage-error.ts'

/** As commander hands them over; durations and sizes are numbers already. */
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
  readonly memory?: number
  readonly stateDir?: string
  readonly cacheDir?: string
  readonly unsupportedAs?: Mimetype
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

/** Differences between the commands of drives. */
export interface DriveCommand {
  readonly command: 'mount' | 'webdav'
  readonly project: string
  /** The arguments behind the command, for the daemon. */
  readonly args: readonly string[]
  readonly doors: Pick<StartSessionOptions, 'driver' | 'webdav' | 'makeMountpoint' | 'allowOther'>
  readonly owner?: { readonly uid?: number; readonly gid?: number }
  plan(configuration: Configuration): Promise<MountPlan>
}

/** Starts a drive behind the command line, or is its daemon. Sets the exit code; throws what stopped the start. */
export async function runDrive(options: DriveCommandOptions, command: DriveCommand): Promise<void> {
  const isBackgroundDaemon = process.env[backgroundVariable] === '1' && process.send !== undefined
  let plan: MountPlan | undefined
  try {
    await checkOpenFiles()
    const configuration = await readConfiguration(command.project)
    plan = await command.plan(configuration)
    if (configuration.key === undefined) throw new DaemonError(noKeyMessage)
    if (!isBackgroundDaemon) await tellOfOthers(plan)
    if (options.foreground !== true) {
      const live = await liveDriveOf(plan)
      if (live !== undefined) {
        await tellThereAlready(live, command, options.quiet === true)
        return
      }
      await startBehind(plan, command, { waitMs: waitMsOf(options), isQuiet: options.quiet })
      return
    }
    const { serveMount } = await import('./serve-mount.ts')
    const logFile = isBackgroundDaemon || options.log !== undefined ? plan.logFile : undefined
    const session = sessionOptionsOf(plan, options, lastingKey(configuration.key, plan), command)
    await serveMount(session, { logFile, isVerbose: options.verbose === true })
  } catch (error) {
    if (error instanceof Error) {
      const message = messageOf(error, plan)
      saySystemd(message)
      if (isBackgroundDaemon) await tellStarter({ kind: 'failed', message, exitCode: exitCodeOf(error) })
    }
    // Of a bug the log stays. The daemon has let go of the folder when it tells.
    if (!isBackgroundDaemon && plan !== undefined && isToldWhole(error, plan)) await tidyState(plan)
    throw error
  }
}

/** False for an error that leads to the log. */
function isToldWhole(error: unknown, { logFile }: MountPlan): boolean {
  return error instanceof Error && isKnown(error) && !error.message.includes(logFile)
}

/**
 * Leftovers of the project's other drives wait until somebody mounts these; leftovers in this very folder that were
 * meant for another address are sent to this one.
 */
async function tellOfOthers({ project, stateDir, baseUrl }: MountPlan): Promise<void> {
  const folders = await findLeftFolders()
  for (const folder of folders) {
    if (folder.drive?.project !== project) continue
    if (folder.stateDir !== stateDir) console.error(`docmount: ${leftElsewhere(folder)}`)
    else if (folder.drive.baseUrl !== baseUrl)
      console.error(`docmount: ${leftToGoElsewhere(folder, baseUrl)}`)
  }
}

/** An unknown error is a bug: its stack goes into the log, and the person is told where. */
function messageOf(error: Error, plan: MountPlan | undefined): string {
  return isKnown(error)
    ? error.message
    : `a bug ended the daemon (${error.message}); see ${plan?.logFile ?? 'its log'}`
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

function waitMsOf({ wait }: DriveCommandOptions): number | undefined {
  return wait === true ? Infinity : wait
}

function sessionOptionsOf(
  plan: MountPlan,
  options: DriveCommandOptions,
  key: StartSessionOptions['key'],
  { doors, owner }: DriveCommand,
): Omit<StartSessionOptions, 'log' | 'logFile' | 'isTraced'> {
  const { cacheTtl, closeWait, cacheSize, pinSize, memory, renameLimit, unsupportedAs } = options
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
