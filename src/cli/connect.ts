// The client of the service for one command, made from options, environment and config file.

import type { Client } from '../api/client.ts'
import { CommandError } from './command-error.ts'
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

/** The first of these signals aborts the work, which then cleans up; a second one of the same kind kills the process. */
const stopSignals = ['SIGINT', 'SIGTERM', 'SIGHUP'] as const

/**
 * Calls `work` with a client, and closes it afterwards. `signal` is aborted by Ctrl-C, by `kill`, and when the terminal closes.
 * `project` chooses a section of the config file. Throws UsageError if no service is configured, and in place of an InputError;
 * CommandError if no key is configured, or the service refuses it; and all other errors of `work` as they are.
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
  if (configuration.key === undefined) throw new CommandError(noKeyMessage)

  const interruption = new AbortController()
  const interrupt = (): void => interruption.abort(new CommandError('interrupted'))
  for (const name of stopSignals) process.once(name, interrupt)
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
    // Errors are recognised by name: to import their classes would load the whole client.
    if (error instanceof Error && error.name === 'InputError') throw new UsageError(error.message)
    if (error instanceof Error && (error as { status?: unknown }).status === 401)
      throw new CommandError(`${error.message}; ${otherKeyMessage}`, { cause: error })
    throw error
  } finally {
    for (const name of stopSignals) process.off(name, interrupt)
    await client?.close()
  }
}

/** Returns `named`, else the only project that the key may see. Throws UsageError if there are several, CommandError if none. */
export async function chooseProject(
  client: Client,
  named: string | undefined,
  signal: AbortSignal,
): Promise<string> {
  if (named !== undefined) return named
  const [only, ...others] = await client.projects({ signal })
  if (only === undefined) throw new CommandError('the key sees no project')
  if (others.length === 0) return only.name
  const names = [only, ...others].map(({ name }) => name).join(', ')
  throw new UsageError(`which project? Add --project with one of: ${names}`)
}
