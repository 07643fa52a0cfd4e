// Writes service and key into the config file, for `docmount login`; other settings stay. The file is replaced at once, so it is
// never half written.

import { randomUUID } from 'node:crypto'
import { chmod, mkdir, rename, rm, writeFile } from 'node:fs/promises'
import { dirname } from 'node:path'
import { CommandError } from './command-error.ts'
import { readOrdinary } from '../ordinary-file.ts'
import { configFilePath } from './config-file.ts'

export interface Login {
  readonly baseUrl: string
  /** The key, or the account under which the keyring has it. */
  readonly key: { readonly api_key: string } | { readonly api_key_keyring: string }
  /** Fields of the config file; an absent one stays as it is there. */
  readonly network: { readonly proxy?: string; readonly ca_file?: string }
  /** Projects that the key may see: each gets a section. */
  readonly projects: readonly string[]
}

const keyFields = ['api_key', 'api_key_file', 'api_key_keyring']

/** Writes the file with mode 0600, and returns its path. The first login also sets the defaults for commands without a project. */
export async function saveLogin({ baseUrl, key, network, projects }: Login): Promise<string> {
  const file = configFilePath()
  const config = await readExisting(file)
  config['base_url'] ??= baseUrl
  if (config['base_url'] === baseUrl && keyFields.every((name) => config[name] === undefined))
    Object.assign(config, key)
  if (config['base_url'] === baseUrl) Object.assign(config, network)
  const sections = (config['projects'] ?? {}) as Record<string, Record<string, unknown>>
  for (const project of projects) {
    const {
      base_url: _url,
      api_key: _key,
      api_key_file: _file,
      api_key_keyring: _ring,
      ...options
    } = sections[project] ?? {}
    sections[project] = { base_url: baseUrl, ...key, ...options, ...network }
  }
  if (projects.length > 0) config['projects'] = sections
  else {
    for (const name of keyFields) delete config[name]
    Object.assign(config, key)
  }
  await writePrivately(file, `${JSON.stringify(config, null, 2)}\n`)
  return file
}

/** True where a key for this service is in the keyring. */
export async function usesKeyring(baseUrl: string): Promise<boolean> {
  const config = await readExisting(configFilePath())
  const sections = Object.values((config['projects'] ?? {}) as Record<string, Record<string, unknown>>)
  return [config, ...sections].some(
    (section) => section['base_url'] === baseUrl && section['api_key_keyring'] !== undefined,
  )
}

async function readExisting(file: string): Promise<Record<string, unknown>> {
  try {
    return JSON.parse(await readOrdinary(file)) as Record<string, unknown>
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return {}
    throw new CommandError(`${file} cannot be read as JSON; fix or remove it, then log in again`, {
      cause: error,
    })
  }
}

async function writePrivately(file: string, content: string): Promise<void> {
  await mkdir(dirname(file), { recursive: true, mode: 0o700 })
  const draft = `${file}.${randomUUID()}`
  try {
    await writeFile(draft, content, { mode: 0o600, flag: 'wx' })
    await chmod(draft, 0o600)
    await rename(draft, file)
  } catch (error) {
    await rm(draft, { force: true })
    throw error
  }
}
