// The service's own door for whoever runs it: a socket in the data folder, which only its owner may open. One call per
// request: POST /NAME with the arguments as a JSON array.

import { chmod, rm } from 'node:fs/promises'
import { type IncomingMessage, createServer } from 'node:http'
import { join } from 'node:path'
import { json } from 'node:stream/consumers'
import { once } from 'node:events'
import type { ServiceContext } from '../context.ts'
import { type Admin, AdminError, adminCalls, createAdmin } from './admin.ts'
import { auditSoon } from './administration.ts'

/** Names who asks. */
export const userHeader = 'x-user'

export function adminSocketOf(dataDir: string): string {
  return join(dataDir, 'service.sock')
}

export type AdminAnswer = { readonly result?: unknown } | { readonly error: string }

/** Listens until the answered function is called. Where that fails the service runs without; `docmount keys` does, too. */
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
    // Ours: whoever made it is dead, for the folder is locked by us.
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

/** Only the folder's owner can ask, and is believed. */
function userOf({ headers }: IncomingMessage): string {
  const { [userHeader]: user } = headers
  return typeof user === 'string' ? decodeURIComponent(user) : 'unknown'
}

async function call(admin: Admin, name: string, args: unknown): Promise<unknown> {
  const known = adminCalls.find((one) => one === name)
  if (known === undefined || !Array.isArray(args)) throw new AdminError(`there is no call ${name}`)
  // JSON has no word for what was left out.
  const given = args.map((arg: unknown) => arg ?? undefined)
  return (admin[known] as (...given: unknown[]) => Promise<unknown>)(...given)
}
