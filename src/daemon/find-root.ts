// The service's root, where somebody left out the `/api` it ends in (interface, "Conventions").

import { createClient } from '../api/client.ts'
import { ApiError } from '../api/errors.ts'
import type { KeySource } from '../api/types.ts'
import type { NetworkSettings } from '../world/network.ts'

const deadlineMs = 5_000

/** With what the service is asked. */
export interface ServiceAccess {
  readonly key: KeySource
  readonly network?: NetworkSettings
}

/** The address with `/api`, where the service answers there; undefined where it does not, or the address has it. */
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
