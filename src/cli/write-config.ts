// The config file as `docmount login` leaves it: what is in it stays, one project's section is new. Never half written.

import { randomUUID } from 'node:crypto'
import { chmod, mkdir, rename, rm, writeFile } from 'node:fs/promises'
import { dirname } from 'node:path'
import { DaemonError } from '../daemon/daemon-error.ts'
import { readOrdinary } from '../ordinary-file.ts'
import { configFilePath } from './config-file.ts'

export interface Login {
  readonly baseUrl: string
  /** The key itself, or the account the keyring keeps it for. */
  readonly key: { readonly api_key: string } | { readonly api_key_keyring: string }
  /** As the config file has them; what is absent stays as it is there. */
  readonly network: { readonly proxy?: string; readonly ca_file?: string }
  /** Projects the key sees: each gets a section. */
  readonly projects: readonly string[]
}

const keyFields = ['api_key', 'api_key_file', 'api_key_keyring']

/** Answers the file's path; its mode is 0600 afterwards. The first login is also what commands without a project use. */
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

async function readExisting(file: string): Promise<Record<string, unknown>> {
  try {
    return JSON.parse(await readOrdinary(file)) as Record<string, unknown>
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return {}
    throw new DaemonError(`${file} cannot be read as JSON; fix or remove it, then log in again`, {
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
