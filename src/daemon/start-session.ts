// The start of a drive: checks, client, filesystem, driver, control socket, mount record. When a step fails, those before it
// are undone.

import { existsSync } from 'node:fs'
import { join } from 'node:path'
import { createClient } from '../api/client.ts'
import type { KeySource } from '../api/types.ts'
import type { FileSystemOptions } from '../fs/contract.ts'
import { createFileSystem } from '../fs/file-system.ts'
import type { DriverName } from '../fuse/driver.ts'
import type { Log } from '../log.ts'
import { LatestRuns } from '../tables-drive/latest-runs.ts'
import { withTablesFolder } from '../tables-drive/tables-drive.ts'
import { forwardedFolder } from './xdg.ts'
import type { NetworkSettings } from '../world/network.ts'
import { ActivityWriter } from './activity.ts'
import { burstSentence } from './activity-text.ts'
import { createControlHandlers } from './control-handlers.ts'
import { startControlServer } from './control-server.ts'
import { DaemonError } from './daemon-error.ts'
import { describeStartError } from './describe-start-error.ts'
import { checkOwner, driveFileName, writeDriveFile } from './drive-file.ts'
import { prepareKernelDoor } from './kernel-door.ts'
import { keepHeapModest } from './modest-heap.ts'
import { ensureFolders, type MountPlan } from './mount-plan.ts'
import {
  type MountRecord,
  processStartOf,
  removeMountRecord,
  socketFile,
  writeMountRecord,
} from './mount-record.ts'
import { desktopNotifications } from './desktop-notifications.ts'
import { MountSession } from './mount-session.ts'
import { finishingPendingPuts, type DoorName, type SessionDoor, type UndoStart } from './session-door.ts'
import { republishSocket } from './republish-socket.ts'
import { traceInto } from './trace.ts'
import { stateReaders } from './state-readers.ts'
import { tidyState } from './tidy-state.ts'
import { waitForService } from './wait-for-service.ts'
import type { WebdavSettings } from './webdav-door.ts'

export interface StartSessionOptions {
  readonly plan: MountPlan
  readonly key: KeySource
  readonly network?: NetworkSettings
  /** `none`: no mount, WebDAV alone. */
  readonly driver: DriverName | 'auto' | 'none'
  /** Opens a WebDAV door. */
  readonly webdav?: WebdavSettings | undefined
  /** Creates a missing mountpoint. */
  readonly makeMountpoint: boolean
  readonly allowOther: boolean
  /** Lets programs that watch a folder of the mount hear of other clients' changes. */
  readonly liveFolders: boolean
  /** Shows the states of documents as extended attributes. */
  readonly hasAttributes: boolean
  readonly fileSystem: Omit<
    FileSystemOptions,
    'files' | 'stateDir' | 'cacheDir' | 'log' | 'onOperation' | 'onNotice' | 'onChange'
  >
  /** Shows notices on the desktop. */
  readonly notifies: boolean
  /** Shows the project's tables as a folder of the drive. */
  readonly showsTables: boolean
  /** Milliseconds to wait for the service before the drive starts; Infinity = for as long as it takes. */
  readonly waitMs?: number | undefined
  /** Limit for uploads, and the same again for downloads; absent: no limit. */
  readonly bytesPerSecond?: number | undefined
  readonly log: Log
  /** Writes every operation and every call to the service into the log. */
  readonly isTraced: boolean
  /** File of `log`, for `docmount status`; absent if it is no file. */
  readonly logFile?: string | undefined
}

/** Resolves when the drive is live. Throws DaemonError or MountError, one line each, with nothing left behind. */
export async function startSession(options: StartSessionOptions): Promise<MountSession> {
  keepHeapModest()
  const undo: UndoStart[] = []
  try {
    return await start(options, undo)
  } catch (error) {
    for (const step of undo.toReversed()) {
      await step(error).catch((cause: unknown) => options.log.warn({ error: cause }, 'cleaning up failed'))
    }
    throw error
  }
}

async function start(options: StartSessionOptions, undo: UndoStart[]): Promise<MountSession> {
  const { plan, log } = options
  await ensureFolders(plan)
  await checkOwner(plan)
  // Loaded now: at the end of the drive the program on disk may have been replaced.
  await stateReaders()
  const door = await prepareDoor(options, undo)

  const trace = options.isTraced ? traceInto(log) : undefined
  const client = createClient({
    baseUrl: plan.baseUrl,
    apiKey: options.key,
    ...(options.network === undefined ? {} : { network: options.network }),
    log,
    ...(options.bytesPerSecond === undefined ? {} : { bytesPerSecond: options.bytesPerSecond }),
    ...(trace === undefined ? {} : { onRequest: trace.onRequest }),
  })
  undo.push(() => client.close())
  if (options.waitMs !== undefined)
    await waitForService(client, plan.project, { waitMs: options.waitMs, log })
  const tell = options.notifies ? desktopNotifications(plan.project) : undefined
  const activity = new ActivityWriter(plan.id, (sum) => {
    const sentence = burstSentence(sum)
    if (sentence !== undefined) tell?.({ kind: 'burst', sentence })
  })
  undo.push(async () => activity.close())
  const projectFiles = await createFileSystem({
    ...options.fileSystem,
    files: client.files(plan.project),
    stateDir: plan.stateDir,
    cacheDir: plan.cacheDir,
    log,
    onChange: (change) => activity.add(change),
    ...(tell === undefined ? {} : { onNotice: tell }),
    ...(trace === undefined ? {} : { onOperation: trace.onOperation }),
  }).catch(async (error: unknown) => {
    throw await describeStartError(error, plan, client, options)
  })
  undo.push(() => projectFiles.close())
  await recordDrive(options)
  const { cacheTtlMs, readOnly } = options.fileSystem
  const tables = client.tables(plan.project)
  const runs = new LatestRuns()
  const fileSystem = options.showsTables
    ? await withTablesFolder(projectFiles, {
        tables,
        forwardedDir: forwardedFolder(),
        cacheTtlMs,
        readOnly,
        log,
        onRun: (run) => runs.add(run),
      })
    : projectFiles

  // Record and socket come before the mount, so that commands find the daemon of any mount they see; they wait for the session.
  let announce: (session: MountSession) => void = () => {}
  const starting = new Promise<MountSession>((resolve) => {
    announce = resolve
  })
  const record = await recordOf(options, door.name)
  const server = await startControlServer(
    record.socketPath,
    createControlHandlers(starting, async (signal) => ({
      tables: await tables.list({ signal }),
      runs: runs.all,
    })),
    log,
  )
  async function withdraw(): Promise<void> {
    // Not awaited: it waits for answers that are sent only after this.
    void server.close()
    await removeMountRecord(plan.runtimeDir, plan.id)
  }
  undo.push(withdraw)
  await writeMountRecord(plan.runtimeDir, record)

  const opened = await door.open(fileSystem)
  const { mounted, webdav } = opened
  fileSystem.attachNotifier(mounted.notifier)
  const live = {
    ...record,
    webdav,
    mountpoint: door.name === 'webdav' ? (webdav?.url ?? '') : plan.mountpoint,
  }
  // Again, with the address: the port may have been "any free one".
  if (webdav !== undefined) await writeMountRecord(plan.runtimeDir, live)
  const stopRepublishing = republishSocket({ runtimeDir: plan.runtimeDir, record: live }, server, log, () => {
    fileSystem.checkStateDir()
    if (!existsSync(join(plan.stateDir, driveFileName))) void recordDrive(options)
  })
  const session = new MountSession({
    record: live,
    fileSystem: finishingPendingPuts(fileSystem, opened),
    mounted,
    log,
    tell,
    limit: (bytesPerSecond) => client.limit(bytesPerSecond),
    bytesPerSecond: options.bytesPerSecond,
    async withdraw() {
      // First, while the record still shows that the folder is ours.
      await tidyState(plan)
      await stopRepublishing()
      await withdraw()
      await client.close()
      activity.close()
    },
  })
  announce(session)
  log.info({ mountpoint: live.mountpoint, driver: door.name, why: door.why, webdav: webdav?.url }, 'live')
  return session
}

/** Writes `drive.json`, which outlasts this process. A failure is only logged: the drive works without it. */
async function recordDrive({ plan, log }: StartSessionOptions): Promise<void> {
  await writeDriveFile(plan).catch((error: unknown) =>
    log.warn({ error }, 'the state folder cannot tell whose it is'),
  )
}

/** Throws DaemonError or MountError if the drive cannot be mounted or served. */
async function prepareDoor(options: StartSessionOptions, undo: UndoStart[]): Promise<SessionDoor> {
  const { plan, log, driver, webdav } = options
  const readOnly = options.fileSystem.readOnly ?? false
  const kernel =
    driver === 'none' ? undefined : await prepareKernelDoor({ ...options, readOnly, driver }, undo)
  if (webdav === undefined) {
    if (kernel === undefined) throw new DaemonError('a drive without a mount is served by WebDAV')
    return kernel
  }
  const { besideKernel, prepareWebdavAlone } = await import('./webdav-door.ts')
  const settings = { plan, settings: webdav, readOnly, log }
  return kernel === undefined ? prepareWebdavAlone(settings) : besideKernel(kernel, settings)
}

/** Returns the mount record, by which commands find this process. */
async function recordOf(options: StartSessionOptions, driver: DoorName): Promise<MountRecord> {
  const { plan, logFile } = options
  const { id, project, baseUrl, mountpoint, stateDir, cacheDir } = plan
  return {
    id,
    pid: process.pid,
    processStart: (await processStartOf(process.pid)) ?? '',
    startedAt: new Date().toISOString(),
    project,
    baseUrl,
    mountpoint,
    driver,
    stateDir,
    cacheDir,
    logFile,
    socketPath: socketFile(plan.runtimeDir, id),
  }
}
