// Address and password of a PostgreSQL database. The URL is an argument, which every user of the machine can read, so the
// password comes from PGPASSWORD, from the file PGPASSFILE (default ~/.pgpass), or from a file that holds only the password.

import { createRequire } from 'node:module'
import type { ClientConfig } from 'pg'
import { parseIntoClientConfig } from 'pg-connection-string'
import { readOrdinary } from '../../../ordinary-file.ts'
import { StartError } from '../../start-error.ts'

/** The package has no types. */
const pgpass = createRequire(import.meta.url)('pgpass') as (
  connection: object,
  found: (password: string | undefined) => void,
) => void

export interface PostgresAddress {
  /** `postgres://user@host:port/database?sslmode=…`, without a password. */
  readonly url: string
  /** A file with only the password; read for each connection, so that it may change. */
  readonly passwordFile?: string
}

/** Throws a StartError if the URL is not a database's or contains a password, or if the password file cannot be read. */
export async function checkAddress({ url, passwordFile }: PostgresAddress): Promise<void> {
  if (!/^postgres(?:ql)?:\/\//.test(url) || !URL.canParse(url))
    throw new StartError('the database has to be given as postgres://USER@HOST:PORT/DATABASE')
  if (/^[^/]*\/\/[^/?@]*:[^/?@]*@/.test(url) || /[?&]password=/i.test(url))
    throw new StartError(
      'the URL of the database holds a password, and arguments can be read by everybody on this machine: set PGPASSWORD or PGPASSFILE',
    )
  if (passwordFile === undefined) return
  await readOrdinary(passwordFile).catch((error: NodeJS.ErrnoException) => {
    const message = `the file of the password, ${passwordFile}, cannot be read: ${error.code ?? error.message}`
    throw new StartError(message, { cause: error })
  })
}

/** The options for `pg`. The password is always set, because `pg` would use the empty one of the URL. */
export function connectionOf(address: PostgresAddress): ClientConfig {
  return {
    ...parseIntoClientConfig(address.url),
    password: passwordOf(address) as () => Promise<string>,
  }
}

/**
 * Returns a function that `pg` calls for each connection: the password in the file (its last one if unreadable), else libpq's
 * sources.
 */
function passwordOf({ passwordFile }: PostgresAddress): (connection?: object) => Promise<string | undefined> {
  let last = ''
  return async (connection) => {
    if (passwordFile !== undefined) {
      // No rejection: pg would leave the connection open.
      last = await readOrdinary(passwordFile).catch(() => last)
      return last.trimEnd()
    }
    const { PGPASSWORD } = process.env
    if (PGPASSWORD !== undefined) return PGPASSWORD
    return new Promise((resolve) => pgpass(connection ?? {}, resolve))
  }
}
