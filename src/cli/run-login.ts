// What `docmount login` does: ask, try, remember. Nothing is written before the service has taken the key.

import { createClient } from '../api/client.ts'
import { ApiError } from '../api/errors.ts'
import { DaemonError } from '../daemon/daemon-error.ts'
import { redact } from '../redact.ts'
import { ask, askHidden, readStdin } from './ask.ts'
import { storeInKeyring } from './keyring.ts'
import { possibleRoots } from './service-root.ts'
import { UsageError } from './usage-error.ts'
import { saveLogin } from './write-config.ts'

export interface LoginOptions {
  readonly baseUrl?: string
  readonly keyStdin?: boolean
  readonly keyring?: boolean
}

const deadlineMs = 10_000

export async function runLogin(options: LoginOptions): Promise<void> {
  const isInteractive = process.stdin.isTTY
  if (!isInteractive && options.keyStdin !== true)
    throw new UsageError('no terminal to ask on: add --key-stdin and give the key on standard input')
  if (options.baseUrl === undefined && options.keyStdin === true)
    throw new UsageError('which service? Add --base-url URL')
  const typed = options.baseUrl ?? (await ask('Service (https://host/api): '))
  const roots = possibleRoots(typed)
  const apiKey = options.keyStdin === true ? await readStdin() : await askHidden('API key (not shown): ')
  if (apiKey === '') throw new UsageError('the key is empty; keys are made in the settings of the project')

  const { baseUrl, projects } = await tryRoots(roots, apiKey)
  if (baseUrl !== typed) console.log(`the service is ${baseUrl}`)
  const account = [baseUrl, ...projects].join(' ')
  if (options.keyring === true) await storeInKeyring(account, apiKey)
  const key = options.keyring === true ? { api_key_keyring: account } : { api_key: apiKey }
  const file = await saveLogin({ baseUrl, key, projects })
  console.log(
    `the key is accepted; it sees ${projects.length === 0 ? 'no project yet' : projects.join(', ')}`,
  )
  console.log(`kept in ${options.keyring === true ? `the keyring, named in ${file}` : file}`)
  if (projects[0] !== undefined) console.log(`next: docmount mount ${projects[0]}`)
}

/** The first root where the service answers. Throws what the likeliest one said. */
async function tryRoots(
  roots: readonly string[],
  apiKey: string,
): Promise<{ baseUrl: string; projects: readonly string[] }> {
  const failures: unknown[] = []
  for (const baseUrl of roots) {
    const client = createClient({ baseUrl, apiKey, deadlineMs })
    try {
      const projects = await client.projects({ attempts: 1 })
      return { baseUrl, projects: projects.map(({ name }) => name) }
    } catch (error) {
      if (error instanceof ApiError && (error.status === 401 || error.status === 403)) {
        throw new DaemonError(
          `${baseUrl} refuses the key (${error.status} ${redact(error.errorMessage)}); make a new key in the settings of the project`,
          { cause: error },
        )
      }
      failures.push(error)
    } finally {
      await client.close()
    }
  }
  const [first] = failures
  throw new DaemonError(
    `no Project Document Service at ${roots.join(' or ')}: ${redact((first as Error).message)}`,
    { cause: first },
  )
}
