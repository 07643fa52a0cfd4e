// What a drive's command was told: by its options first, then by the config file.

import type { Command } from 'commander'
import { readConfiguration } from './config-file.ts'
import { withConfigured } from './config-options.ts'

/** Throws DaemonError where the file cannot be read, or says what cannot be. */
export async function configuredOptions<T extends object>(project: string, command: Command): Promise<T> {
  const { drive } = await readConfiguration(project)
  return withConfigured<T>(command, drive)
}
