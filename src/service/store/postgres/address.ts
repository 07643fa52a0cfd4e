// Where a PostgreSQL database is, and who we are to it. Its URL is in argv, which everybody on the machine may read: a
// password comes by PGPASSWORD, by the file that PGPASSFILE names (~/.pgpass where it names none), or by a file of its own.

import { createRequire } from 'node:module'
import type { ClientConfig } from 'pg'
import { parseIntoClientConfig } from 'pg-connection-string'
import { readOrdinary } from '../../../ordinary-file.ts'
import { StartError } from '../../start-error.ts'

/** Without types of its own. */
const pgpass = createRequire(import.meta.url)('pgpass') as (
  connection: object,
  found: (password: string | undefined) => void,
) => void

export interface PostgresAddress {
  /** `postgres://user@host:port/database?sslmode=…`, without a password. */
  readonly url: string
  /** Holds the password and nothing else; read for each connection, so that it may change. */
  readonly passwordFile?: string
}

/** Throws a StartError on what is no URL of a database, or carries a password, and where the password's file cannot be read. */
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

/** For `pg`, which would take a URL's empty password for the password. */
export function connectionOf(address: PostgresAddress): ClientConfig {
  return {
    ...parseIntoClientConfig(address.url),
    password: passwordOf(address) as () => Promise<string>,
  }
}

/** Asked for each connection: the file given (as it was last, where it cannot be read), else libpq's own ways. Undefined where there is none. */
function passwordOf({ passwordFile }: PostgresAddress): (connection?: object) => Promise<string | undefined> {
  let last = ''
  return async (connection) => {
    if (passwordFile !== undefined) {
      // pg leaves a connection open whose password could not be had.
      last = await readOrdinary(passwordFile).catch(() => last)
      return last.trimEnd()
    }
    const { PGPASSWORD } = process.env
    if (PGPASSWORD !== undefined) return PGPASSWORD
    return new Promise((resolve) => pgpass(connection ?? {}, resolve))
  }
}
