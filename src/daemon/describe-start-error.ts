// The error of a drive that could not be started, in one line that says what to do.

import type { Client } from '../api/client.ts'
import { ApiError, NetworkError } from '../api/errors.ts'
import { ErrnoError, withoutErrno } from '../errno-error.ts'
import { DaemonError } from './daemon-error.ts'
import { findRoot, type ServiceAccess } from './find-root.ts'
import type { MountPlan } from './mount-plan.ts'

/** Returns a DaemonError for errors of the service and the filesystem; any other error unchanged. */
export async function describeStartError(
  thrown: unknown,
  plan: Pick<MountPlan, 'project' | 'baseUrl'>,
  client: Client,
  service: ServiceAccess,
): Promise<unknown> {
  const { project, baseUrl } = plan
  const error = causeOf(thrown)
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
      `cannot reach the service at ${baseUrl}: ${withoutRepetition(error.message)}; check --base-url and the network`,
      { isTemporary: true, cause: error },
    )
  }
  // The message says the same in words.
  if (error instanceof ErrnoError) return new DaemonError(withoutErrno(error.message), { cause: error })
  if (!(error instanceof ApiError)) return error
  if (error.status >= 500 || error.status === 429) {
    return new DaemonError(
      `the service at ${baseUrl} has trouble (${error.status} ${error.errorMessage}); try again later`,
      { isTemporary: true, cause: error },
    )
  }
  const seen = await describeProjects(client)
  // A key that opens other projects is known to the service: then 401 is about the project.
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

/** Returns the cause of an outage, which says more than the outage itself. */
function causeOf(error: unknown): unknown {
  const { cause } = error instanceof NetworkError && error.kind === 'away' ? error : {}
  return cause instanceof NetworkError || cause instanceof ApiError ? cause : error
}

/** Removes the prefix of an outage, whose cause follows it in the same message. */
function withoutRepetition(message: string): string {
  return message.replace(/^GET \/: the service is out of reach: (?=GET \/: )/, '')
}

/** True if a server answers there, but not as the root of the service would. */
function isNotTheRoot(error: unknown): boolean {
  return error instanceof ApiError
    ? error.status === 404 || error.status === 405
    : error instanceof NetworkError && error.kind === 'protocol'
}

/**
 * Resolves with a sentence that names the projects the key sees (the interface leaves open how an unknown project is refused);
 * undefined if they cannot be listed.
 */
async function describeProjects(client: Client): Promise<string | undefined> {
  try {
    const names = (await client.projects({ deadlineMs: 5000, attempts: 1 })).map(({ name }) => name)
    return names.length === 0 ? 'the key sees no project' : `the key sees: ${names.slice(0, 10).join(', ')}`
  } catch {
    return undefined
  }
}
