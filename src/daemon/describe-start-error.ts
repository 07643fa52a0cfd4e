// Why a drive could not be started, in one line that says what to do.

import type { Client } from '../api/client.ts'
import { ApiError, NetworkError } from '../api/errors.ts'
import { ErrnoError } from '../errno-error.ts'
import { DaemonError } from './daemon-error.ts'
import type { MountPlan } from './mount-plan.ts'

/** Translates what the service and the filesystem throw; anything else is passed as it is. */
export async function describeStartError(error: unknown, plan: MountPlan, client: Client): Promise<unknown> {
  const { project, baseUrl } = plan
  if (error instanceof NetworkError) {
    return new DaemonError(
      `cannot reach the service at ${baseUrl}: ${error.message}; check --base-url and the network`,
      { isTemporary: true, cause: error },
    )
  }
  if (error instanceof ErrnoError) return new DaemonError(error.message, { cause: error })
  if (!(error instanceof ApiError)) return error
  if (error.status === 401) {
    return new DaemonError(
      `the service at ${baseUrl} does not accept the API key (401 ${error.errorMessage}); check DOCMOUNT_API_KEY or the key file`,
      { cause: error },
    )
  }
  if (error.status >= 500 || error.status === 429) {
    return new DaemonError(
      `the service at ${baseUrl} has trouble (${error.status} ${error.errorMessage}); try again later`,
      { isTemporary: true, cause: error },
    )
  }
  const hint = await describeProjects(client)
  return new DaemonError(
    `the project "${project}" cannot be read at ${baseUrl} (${error.status} ${error.errorMessage}); ${hint}`,
    { cause: error },
  )
}

/** The interface leaves open what an unknown project answers, so the list of projects tells what the key may see. */
async function describeProjects(client: Client): Promise<string> {
  try {
    const names = (await client.projects({ deadlineMs: 5000, attempts: 1 })).map(({ name }) => name)
    return names.length === 0 ? 'the key sees no project' : `the key sees: ${names.slice(0, 10).join(', ')}`
  } catch {
    return 'check its name and that the key belongs to it'
  }
}
