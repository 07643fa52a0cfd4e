// Options of a drive's command: from the command line first, then from the config file.

import type { Command } from 'commander'
import { readConfiguration } from './config-file.ts'
import { withConfigured } from './config-options.ts'

/** As `command.opts()`. Throws DaemonError where the file cannot be read, or says what cannot be. */
export async function configuredOptions(project: string, command: Command): Promise<Record<string, unknown>> {
  const { drive } = await readConfiguration(project)
  return withConfigured(command, drive)
}
