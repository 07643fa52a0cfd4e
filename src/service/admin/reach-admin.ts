// The administration of a data folder or a shared database: through the socket of the service that serves the folder, else
// directly on the database.

import { request } from 'node:http'
import { userInfo } from 'node:os'
import { json } from 'node:stream/consumers'
import type { Readable } from 'node:stream'
import { openStore } from '../store/open-store.ts'
import type { StorePlace } from '../store/opened-store.ts'
import { type Admin, AdminError, adminCalls, createAdmin } from './admin.ts'
import { type AdminAnswer, adminSocketOf, userHeader } from './socket.ts'

/** `now`: milliseconds since the epoch, by the clock that the service uses. */
export type AdminWork = (admin: Admin, now: () => number) => Promise<void>

/** Runs `work` with the administration of the store at `place`. Throws the errors of `work`. */
export async function withAdmin(place: StorePlace, work: AdminWork): Promise<void> {
  if (place.database === undefined) {
    const path = adminSocketOf(place.dataDir)
    if (await isServed(path)) return work(createSocketAdmin(path), Date.now)
  }
  const opened = await openStore(place)
  try {
    await work(
      createAdmin(opened.store, opened.now, () => undefined, userName()),
      opened.now,
    )
  } finally {
    await opened.close()
  }
}

async function isServed(path: string): Promise<boolean> {
  try {
    await ask(path, 'listProjects', [])
    return true
  } catch (error) {
    // The socket is missing, or has no listener; a path too long for a socket is EINVAL.
    const code = error instanceof Error && 'code' in error ? String(error.code) : ''
    if (['ENOENT', 'ECONNREFUSED', 'EINVAL', 'ENAMETOOLONG', 'ENOTSOCK'].includes(code)) return false
    throw error
  }
}

/** The name of the user who runs this process, or the id: in a container the user may have no name. */
function userName(): string {
  try {
    return userInfo().username
  } catch {
    return String(process.getuid?.() ?? 'unknown')
  }
}

function createSocketAdmin(path: string): Admin {
  const calls = adminCalls.map((name) => [name, (...args: unknown[]) => ask(path, name, args)] as const)
  return Object.fromEntries(calls) as unknown as Admin
}

async function ask(path: string, name: string, args: readonly unknown[]): Promise<unknown> {
  const headers = { [userHeader]: encodeURIComponent(userName()) }
  const body = await new Promise<Readable>((resolve, reject) => {
    const sent = request({ socketPath: path, path: `/${name}`, method: 'POST', headers }, resolve)
    sent.on('error', reject)
    sent.end(JSON.stringify(args))
  })
  const answer = (await json(body)) as AdminAnswer
  if ('error' in answer) throw new AdminError(answer.error)
  return answer.result
}
