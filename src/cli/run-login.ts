// Implements `docmount login`. A key is stored only after the service has accepted it.

import { createClient } from '../api/client.ts'
import { ApiError } from '../api/errors.ts'
import { CommandError } from './command-error.ts'
import { redact } from '../redact.ts'
import type { NetworkSettings } from '../world/network.ts'
import { ask, askHidden, readStdin } from './ask.ts'
import { readNetworkOf } from './config-file.ts'
import { storeInKeyring } from './keyring.ts'
import { possibleRoots } from './service-root.ts'
import { shellWord } from './shell-word.ts'
import { UsageError } from './usage-error.ts'
import { saveLogin, usesKeyring } from './write-config.ts'

export interface LoginOptions {
  readonly baseUrl?: string
  readonly proxy?: string
  readonly caFile?: string
  readonly keyStdin?: boolean
  readonly keyring?: boolean
}

const deadlineMs = 10_000

/** Number of keys a person may try. */
const attempts = 3

export async function runLogin(options: LoginOptions): Promise<void> {
  const isInteractive = process.stdin.isTTY
  if (!isInteractive && options.keyStdin !== true)
    throw new UsageError('no terminal to ask at: add --key-stdin, and give the key on standard input')
  if (options.baseUrl === undefined && options.keyStdin === true)
    throw new UsageError('which service? Add --base-url URL')
  const typed = options.baseUrl ?? (await ask('Service (https://host/api): '))
  const roots = possibleRoots(typed)
  const known = await readNetworkOf(roots)
  const network = { proxy: options.proxy ?? known.proxy, caFile: options.caFile ?? known.caFile }
  const { apiKey, baseUrl, projects } = await acceptedKey(roots, network, options.keyStdin === true)
  if (baseUrl !== typed) console.log(`the service is ${baseUrl}`)
  const account = [baseUrl, ...projects].join(' ')
  if (options.keyring === true) await storeInKeyring(account, apiKey)
  const file = await saveLogin({
    baseUrl,
    key: options.keyring === true ? { api_key_keyring: account } : { api_key: apiKey },
    network: {
      ...(options.proxy === undefined ? {} : { proxy: options.proxy }),
      ...(options.caFile === undefined ? {} : { ca_file: options.caFile }),
    },
    projects,
  })
  console.log(
    `the key is accepted; it sees ${projects.length === 0 ? 'no project yet' : projects.join(', ')}`,
  )
  console.log(`kept in ${options.keyring === true ? `the keyring, named in ${file}` : file}`)
  if (projects[0] !== undefined) console.log(`next: docmount mount ${shellWord(projects[0])}`)
}

/** Keeps a key that was typed on the page, where the last one is. Resolves with a sentence. Throws CommandError, UsageError. */
export async function takeKey(baseUrl: string, apiKey: string): Promise<string> {
  const key = apiKey.trim()
  if (key === '') throw new UsageError('the key is empty')
  const { projects } = await tryRoots([baseUrl], key, await readNetworkOf([baseUrl]))
  const isInKeyring = await usesKeyring(baseUrl)
  const account = [baseUrl, ...projects].join(' ')
  if (isInKeyring) await storeInKeyring(account, key)
  await saveLogin({
    baseUrl,
    key: isInKeyring ? { api_key_keyring: account } : { api_key: key },
    network: {},
    projects,
  })
  return `The key is accepted and kept; it sees ${projects.length === 0 ? 'no project yet' : projects.join(', ')}`
}

interface Accepted {
  readonly apiKey: string
  readonly baseUrl: string
  readonly projects: readonly string[]
}

/** Reads a key until the service accepts one: up to three from a person, only one from a script. */
async function acceptedKey(
  roots: readonly string[],
  network: NetworkSettings,
  isScript: boolean,
): Promise<Accepted> {
  for (let attempt = 1; ; attempt++) {
    const apiKey = isScript ? await readStdin() : await askHidden('API key (not shown): ')
    try {
      if (apiKey === '') throw new UsageError(`the key is empty; ${whereKeysAreMade}`)
      return { apiKey, ...(await tryRoots(roots, apiKey, network)) }
    } catch (error) {
      const isWrongKey =
        error instanceof UsageError || (error instanceof CommandError && isKeyRefusal(error.cause))
      if (isScript || !isWrongKey || attempt === attempts) throw error
      console.error(`docmount: ${error.message}`)
    }
  }
}

const whereKeysAreMade =
  'make one in the settings of the project, or in a service of your own: docmount keys create PROJECT --data DIR'

function isKeyRefusal(error: unknown): error is ApiError {
  return error instanceof ApiError && (error.status === 401 || error.status === 403)
}

/** Returns the first root where the service answers, and its projects. Throws if a root refuses the key, or none answers. */
async function tryRoots(
  roots: readonly string[],
  apiKey: string,
  network: NetworkSettings,
): Promise<Omit<Accepted, 'apiKey'>> {
  const failures: unknown[] = []
  for (const baseUrl of roots) {
    const client = createClient({ baseUrl, apiKey, network, deadlineMs })
    try {
      const projects = await client.projects({ attempts: 1 })
      return { baseUrl, projects: projects.map(({ name }) => name) }
    } catch (error) {
      if (isKeyRefusal(error)) {
        throw new CommandError(
          `${baseUrl} refuses the key (${error.status} ${redact(error.errorMessage)}); ${whereKeysAreMade}`,
          { cause: error },
        )
      }
      failures.push(error)
    } finally {
      await client.close()
    }
  }
  const [first] = failures
  throw new CommandError(
    `no Project Document Service at ${roots.join(' or ')}: ${redact((first as Error).message)}`,
    { cause: first },
  )
}
