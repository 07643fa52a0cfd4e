// Implements `docmount mount`: turns its options into those of a drive with a kernel mount, and WebDAV if asked for.

import { join } from 'node:path'
import { type MountPlan, planMount } from '../daemon/mount-plan.ts'
import { homeOf } from '../daemon/xdg.ts'
import type { DriverName } from '../fuse/driver.ts'
import { passedDescriptor, resolveMountpoint } from '../fuse/mountpoint.ts'
import type { Address } from './address.ts'
import type { Configuration } from './config-file.ts'
import { baseUrlOf, type DriveCommandOptions, runDrive } from './run-drive.ts'
import { UsageError } from './usage-error.ts'
import { defaultAddress, type WebdavCommandOptions, webdavSettingsOf } from './webdav-options.ts'

export interface MountCommandOptions extends DriveCommandOptions, WebdavCommandOptions {
  readonly driver: DriverName | 'auto'
  /** Text in the first column of the mount table. */
  readonly source?: string
  readonly allowOther?: boolean
  readonly liveFolders: boolean
  readonly attributes?: boolean
  readonly uid?: number
  readonly gid?: number
  /** True: at the default address. */
  readonly webdav?: Address | true
}

/** `args` are the command line's arguments after `mount`. Sets the exit code; throws the error that stopped the start. */
export async function runMount(
  project: string,
  mountpoint: string | undefined,
  options: MountCommandOptions,
  args: readonly string[],
): Promise<void> {
  const { driver, allowOther = false, liveFolders, attributes = false, webdav, uid, gid } = options
  await runDrive(options, {
    command: 'mount',
    project,
    args,
    doors: {
      driver,
      allowOther,
      liveFolders,
      hasAttributes: attributes,
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
  const folder = mountpoint ?? join(homeOf(), project)
  return planMount({
    project,
    baseUrl,
    mountpoint: await resolveMountpoint(folder),
    source: options.source,
    // `/dev/fd/N` as mountpoint: mount.fuse3 has mounted already, and passes its open /dev/fuse.
    descriptor: passedDescriptor(folder),
    stateDir,
    cacheDir,
    logFile: log,
  })
}
