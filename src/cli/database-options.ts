// Options for the PostgreSQL database that the nodes of a service share.

import { type Command, Option } from 'commander'
import type { ServiceOptions } from '../service/index.ts'
import { UsageError } from './usage-error.ts'

type Database = NonNullable<ServiceOptions['database']>

export interface DatabaseOptions {
  readonly database?: string
  readonly databasePasswordFile?: string
}

/** `optionOf`: `serve` makes options that can also be environment variables. */
export function addDatabaseOptions(
  command: Command,
  optionOf: (flags: string, description: string) => Option = (flags, description) =>
    new Option(flags, description),
): Command {
  return command
    .addOption(
      optionOf(
        '--database <url>',
        'PostgreSQL that nodes share, without a password: that is in PGPASSWORD or PGPASSFILE',
      ),
    )
    .addOption(optionOf('--database-password-file <file>', 'a file that holds the password'))
}

/** Returns undefined without --database. Throws UsageError for a password file without it. */
export function databaseOf({ database: url, databasePasswordFile }: DatabaseOptions): Database | undefined {
  if (url === undefined && databasePasswordFile !== undefined)
    throw new UsageError('--database-password-file needs --database')
  if (url === undefined) return undefined
  return databasePasswordFile === undefined ? { url } : { url, passwordFile: databasePasswordFile }
}
