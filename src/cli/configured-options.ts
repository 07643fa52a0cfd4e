// Options of `mount` and `webdav`: from the command line first, then from the config file.

import type { Command } from 'commander'
import { readConfiguration } from './config-file.ts'
import { withConfigured } from './config-options.ts'

/** Returns `command.opts()`, completed from the config file. Throws CommandError if that cannot be read or is invalid. */
export async function configuredOptions(project: string, command: Command): Promise<Record<string, unknown>> {
  const { drive } = await readConfiguration(project)
  return withConfigured(command, drive)
}
