// Implements `docmount webdav`: a drive that is served by WebDAV only.

import { planMount } from '../daemon/mount-plan.ts'
import type { Address } from './address.ts'
import { baseUrlOf, type DriveCommandOptions, runDrive } from './run-drive.ts'
import { UsageError } from './usage-error.ts'
import { defaultAddress, type WebdavCommandOptions, webdavSettingsOf } from './webdav-options.ts'

export interface WebdavDriveOptions extends DriveCommandOptions, WebdavCommandOptions {
  readonly listen?: Address
}

/** `args` are the command line's arguments after `webdav`. Sets the exit code; throws the error that stopped the start. */
export async function runWebdav(
  project: string,
  options: WebdavDriveOptions,
  args: readonly string[],
): Promise<void> {
  const address = options.listen ?? defaultAddress
  const webdav = webdavSettingsOf(address, options)
  await runDrive(options, {
    command: 'webdav',
    project,
    args,
    doors: {
      driver: 'none',
      webdav,
      makeMountpoint: false,
      allowOther: false,
      liveFolders: false,
      hasAttributes: false,
    },
    async plan(configuration) {
      if (project === '') throw new UsageError('which project?')
      const { stateDir, cacheDir, log } = options
      const host = address.host.includes(':') ? `[${address.host}]` : address.host
      return planMount({
        project,
        baseUrl: baseUrlOf(options, configuration),
        // The URL identifies the drive, as the folder does for a mounted one.
        mountpoint: `http${webdav.cert === undefined ? '' : 's'}://${host}:${address.port}`,
        stateDir,
        cacheDir,
        logFile: log,
      })
    },
  })
}
