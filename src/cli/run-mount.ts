// Arguments of `docmount mount` become a drive at a folder, with WebDAV beside it where that is wanted.

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
  /** Source of the drive in the mount table. */
  readonly source?: string
  readonly allowOther?: boolean
  readonly uid?: number
  readonly gid?: number
  /** True: at the usual address. */
  readonly webdav?: Address | true
}

/** `args` are the arguments behind `mount`, for the daemon. Sets the exit code; throws what stopped the start. */
export async function runMount(
  project: string,
  mountpoint: string | undefined,
  options: MountCommandOptions,
  args: readonly string[],
): Promise<void> {
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
