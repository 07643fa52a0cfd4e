// The service's root ends in `/api` (interface, "Conventions"). For a base URL given without it, this finds out if adding it helps.

import { createClient } from '../api/client.ts'
import { ApiError } from '../api/errors.ts'
import type { KeySource } from '../api/types.ts'
import type { NetworkSettings } from '../world/network.ts'

const deadlineMs = 5_000

/** Credentials and network settings for the service. */
export interface ServiceAccess {
  readonly key: KeySource
  readonly network?: NetworkSettings
}

/** Resolves with the address plus `/api` if the service answers there; undefined if not, or if the address has it. */
export async function findRoot(
  baseUrl: string,
  { key, network = {} }: ServiceAccess,
): Promise<string | undefined> {
  const root = `${baseUrl.replace(/\/+$/, '')}/api`
  if (/\/api\/*$/.test(baseUrl)) return undefined
  const client = createClient({ baseUrl: root, apiKey: key, network, deadlineMs })
  try {
    await client.projects({ attempts: 1 })
    return root
  } catch (error) {
    return error instanceof ApiError && (error.status === 401 || error.status === 403) ? root : undefined
  } finally {
    await client.close()
  }
}
