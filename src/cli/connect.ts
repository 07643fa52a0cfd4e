// The service for one command: a client from options, environment and config file, closed when the work is done.
// Every command's other errors pass; only a mistake in the input becomes a usage error here.

import type { Client } from '../api/client.ts'
import { DaemonError } from '../daemon/daemon-error.ts'
import { noKeyMessage, otherKeyMessage, readConfiguration } from './config-file.ts'
import { UsageError } from './usage-error.ts'

/** Options shared by the commands that talk to the service. */
export interface ServiceOptions {
  readonly baseUrl?: string
  /** Bytes per second, each way. */
  readonly bwlimit?: number | undefined
}

/** For `.option(…)`: the flag and its description. */
export const baseUrlOption: readonly [string, string] = [
  '--base-url <url>',
  'the service, /api included (default: $DOCMOUNT_BASE_URL or the config file)',
]

/** Each lets the work leave nothing half there; a second one of the same name ends it at once. */
const endings = ['SIGINT', 'SIGTERM', 'SIGHUP'] as const

/**
 * Does the work with a connected client; `signal` is aborted by Ctrl-C, by the end of the terminal, and by `kill`. `project` chooses a section of the config file.
 * Throws UsageError where no service or key is configured, or the input is not what the service can be asked.
 */
export async function withClient<T>(
  project: string | undefined,
  options: ServiceOptions,
  work: (client: Client, signal: AbortSignal) => Promise<T>,
): Promise<T> {
  const configuration = await readConfiguration(project)
  const baseUrl = options.baseUrl ?? configuration.baseUrl
  if (baseUrl === undefined)
    throw new UsageError('which service? Add --base-url URL, set DOCMOUNT_BASE_URL, or run docmount login')
  if (configuration.key === undefined) throw new DaemonError(noKeyMessage)

  const interruption = new AbortController()
  const interrupt = (): void => interruption.abort(new DaemonError('interrupted'))
  for (const name of endings) process.once(name, interrupt)
  const { createClient } = await import('../api/client.ts')
  let client: Client | undefined
  try {
    client = createClient({
      baseUrl,
      apiKey: configuration.key,
      network: configuration.network,
      ...(options.bwlimit === undefined ? {} : { bytesPerSecond: options.bwlimit }),
    })
    return await work(client, interruption.signal)
  } catch (error) {
    // By name, as everywhere in the command line: the class would load the client.
    if (error instanceof Error && error.name === 'InputError') throw new UsageError(error.message)
    if (error instanceof Error && (error as { status?: unknown }).status === 401)
      throw new DaemonError(`${error.message}; ${otherKeyMessage}`, { cause: error })
    throw error
  } finally {
    for (const name of endings) process.off(name, interrupt)
    await client?.close()
  }
}

/** The project to use where a command names none: $DOCMOUNT_PROJECT, else the only one the key may see. */
export async function chooseProject(
  client: Client,
  named: string | undefined,
  signal: AbortSignal,
): Promise<string> {
  if (named !== undefined) return named
  const [only, ...others] = await client.projects({ signal })
  if (only === undefined) throw new DaemonError('the key sees no project')
  if (others.length === 0) return only.name
  const names = [only, ...others].map(({ name }) => name).join(', ')
  throw new UsageError(`which project? Add --project with one of: ${names}`)
}
