// Administration of a running service through a Unix socket in its data folder, which only the folder's owner may open. One
// HTTP request per call of `Admin`: POST /NAME with the arguments as a JSON array.

import { chmod, rm } from 'node:fs/promises'
import { type IncomingMessage, createServer } from 'node:http'
import { join } from 'node:path'
import { json } from 'node:stream/consumers'
import { once } from 'node:events'
import type { ServiceContext } from '../context.ts'
import { type Admin, AdminError, adminCalls, createAdmin } from './admin.ts'
import { auditSoon } from './administration.ts'

/** Header with the name of the user who makes the call, URI-encoded. */
export const userHeader = 'x-user'

export function adminSocketOf(dataDir: string): string {
  return join(dataDir, 'service.sock')
}

export type AdminAnswer = { readonly result?: unknown } | { readonly error: string }

/** Listens until the returned function is called. If it cannot listen, it logs a warning, and the service runs without. */
export async function listenForAdmin(context: ServiceContext, dataDir: string): Promise<() => Promise<void>> {
  const adminOf = (by: string): Admin =>
    createAdmin(
      context.store,
      context.now,
      (sha256s) => {
        context.blobs.collect(sha256s)
        context.tidying.ask()
      },
      by,
    )
  const server = createServer((request, response) => {
    const answer = (status: number, body: AdminAnswer): void => {
      response.writeHead(status, { 'content-type': 'application/json' }).end(JSON.stringify(body))
    }
    json(request)
      .then((body) => call(adminOf(userOf(request)), request.url?.slice(1) ?? '', body))
      .then(
        (result) => answer(200, { result }),
        (error: unknown) => {
          if (!(error instanceof AdminError)) context.log.error({ error }, 'an administrative call failed')
          answer(error instanceof AdminError ? 400 : 500, {
            error: error instanceof AdminError ? error.message : 'unexpected failure: the log says more',
          })
        },
      )
      .finally(() => auditSoon(context))
  })
  const path = adminSocketOf(dataDir)
  try {
    // A socket file is left over from a service that was killed: we hold the lock of the folder.
    await rm(path, { force: true })
    server.listen(path)
    await once(server, 'listening')
    await chmod(path, 0o600)
  } catch (error) {
    context.log.warn({ error, path }, 'no socket for administration')
    server.close()
    return () => Promise.resolve()
  }
  return async () => {
    server.closeAllConnections()
    await new Promise((resolve) => server.close(resolve))
  }
}

/** The header is trusted: only the folder's owner can open the socket. */
function userOf({ headers }: IncomingMessage): string {
  const { [userHeader]: user } = headers
  return typeof user === 'string' ? decodeURIComponent(user) : 'unknown'
}

async function call(admin: Admin, name: string, args: unknown): Promise<unknown> {
  const known = adminCalls.find((one) => one === name)
  if (known === undefined || !Array.isArray(args)) throw new AdminError(`there is no call ${name}`)
  // JSON has null in the place of undefined.
  const values = args.map((arg: unknown) => arg ?? undefined)
  return (admin[known] as (...values: unknown[]) => Promise<unknown>)(...values)
}
