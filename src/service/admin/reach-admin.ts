// The administration of a data folder: through the service that serves it, or else over its database.

import { request } from 'node:http'
import { json } from 'node:stream/consumers'
import type { Readable } from 'node:stream'
import { openStore } from '../store/open-store.ts'
import { type Admin, AdminError, adminCalls, adminOver } from './admin.ts'
import { type AdminAnswer, adminSocketOf } from './socket.ts'

/** Runs `work` with it. Throws what `work` throws. */
export async function withAdmin(dataDir: string, work: (admin: Admin) => Promise<void>): Promise<void> {
  const path = adminSocketOf(dataDir)
  if (await isServed(path)) {
    await work(adminThrough(path))
    return
  }
  const { store } = await openStore(dataDir)
  try {
    await work(adminOver(store, Date.now, () => undefined))
  } finally {
    await store.destroy()
  }
}

async function isServed(path: string): Promise<boolean> {
  try {
    await ask(path, 'listProjects', [])
    return true
  } catch (error) {
    // Nobody listens, or nothing is there; a path too long for a socket is EINVAL.
    const code = error instanceof Error && 'code' in error ? String(error.code) : ''
    if (['ENOENT', 'ECONNREFUSED', 'EINVAL', 'ENAMETOOLONG', 'ENOTSOCK'].includes(code)) return false
    throw error
  }
}

function adminThrough(path: string): Admin {
  const calls = adminCalls.map((name) => [name, (...args: unknown[]) => ask(path, name, args)] as const)
  return Object.fromEntries(calls) as unknown as Admin
}

async function ask(path: string, name: string, args: readonly unknown[]): Promise<unknown> {
  const body = await new Promise<Readable>((resolve, reject) => {
    const sent = request({ socketPath: path, path: `/${name}`, method: 'POST' }, resolve)
    sent.on('error', reject)
    sent.end(JSON.stringify(args))
  })
  const answer = (await json(body)) as AdminAnswer
  if ('error' in answer) throw new AdminError(answer.error)
  return answer.result
}
