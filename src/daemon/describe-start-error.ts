// Why a drive could not be started, in one line that says what to do.

import type { Client } from '../api/client.ts'
import { ApiError, NetworkError } from '../api/errors.ts'
import { ErrnoError, withoutErrno } from '../errno-error.ts'
import { DaemonError } from './daemon-error.ts'
import { findRoot, type ServiceAccess } from './find-root.ts'
import type { MountPlan } from './mount-plan.ts'

/** Translates what the service and the filesystem throw; anything else is passed as it is. */
export async function describeStartError(
  thrown: unknown,
  plan: Pick<MountPlan, 'project' | 'baseUrl'>,
  client: Client,
  service: ServiceAccess,
): Promise<unknown> {
  const { project, baseUrl } = plan
  const error = reasonOf(thrown)
  if (isNotTheRoot(error)) {
    const root = await findRoot(baseUrl, service)
    if (root !== undefined)
      return new DaemonError(`${baseUrl} is not the service's root: use --base-url ${root}`, { cause: error })
  }
  if (error instanceof NetworkError && error.kind === 'protocol') {
    return new DaemonError(
      `what answers at ${baseUrl} is no Project Document Service (${error.message}); check --base-url`,
      { isTemporary: true, cause: error },
    )
  }
  if (error instanceof NetworkError) {
    return new DaemonError(
      `cannot reach the service at ${baseUrl}: ${onceOnly(error.message)}; check --base-url and the network`,
      { isTemporary: true, cause: error },
    )
  }
  // The sentence says what the errno would.
  if (error instanceof ErrnoError) return new DaemonError(withoutErrno(error.message), { cause: error })
  if (!(error instanceof ApiError)) return error
  if (error.status >= 500 || error.status === 429) {
    return new DaemonError(
      `the service at ${baseUrl} has trouble (${error.status} ${error.errorMessage}); try again later`,
      { isTemporary: true, cause: error },
    )
  }
  const seen = await describeProjects(client)
  // A key that opens another project is none that the service does not know.
  if (error.status === 401 && seen === undefined) {
    return new DaemonError(
      `the service at ${baseUrl} does not accept the API key (401 ${error.errorMessage}); check DOCMOUNT_API_KEY or the key file`,
      { cause: error },
    )
  }
  const hint = seen ?? 'check its name and that the key belongs to it'
  return new DaemonError(
    `the project "${project}" cannot be read at ${baseUrl} (${error.status} ${error.errorMessage}); ${hint}`,
    { cause: error },
  )
}

/** The cause of an outage says more than the outage itself. */
function reasonOf(error: unknown): unknown {
  const { cause } = error instanceof NetworkError && error.kind === 'away' ? error : {}
  return cause instanceof NetworkError || cause instanceof ApiError ? cause : error
}

/** Where only the words are left, they are told once. */
function onceOnly(message: string): string {
  return message.replace(/^GET \/: the service is out of reach: (?=GET \/: )/, '')
}

/** Something answers there, and it is not what was asked for. */
function isNotTheRoot(error: unknown): boolean {
  return error instanceof ApiError
    ? error.status === 404 || error.status === 405
    : error instanceof NetworkError && error.kind === 'protocol'
}

/**
 * The interface leaves open what an unknown project answers, so the list of projects tells what the key may see. Undefined
 * where it cannot be had.
 */
async function describeProjects(client: Client): Promise<string | undefined> {
  try {
    const names = (await client.projects({ deadlineMs: 5000, attempts: 1 })).map(({ name }) => name)
    return names.length === 0 ? 'the key sees no project' : `the key sees: ${names.slice(0, 10).join(', ')}`
  } catch {
    return undefined
  }
}
