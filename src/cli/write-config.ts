// Writes service and key into the config file, for `docmount login`; other settings stay. The file is replaced at once, so it is
// never half written.

import { randomUUID } from 'node:crypto'
import { chmod, mkdir, rename, rm, writeFile } from 'node:fs/promises'
import { dirname } from 'node:path'
import { CommandError } from './command-error.ts'
import { readOrdinary } from '../ordinary-file.ts'
import { configFilePath, isSameUrl } from './config-file.ts'

export interface Login {
  readonly baseUrl: string
  /** The key, or the account under which the keyring has it. */
  readonly key: { readonly api_key: string } | { readonly api_key_keyring: string }
  /** Fields of the config file; an absent one stays as it is there. */
  readonly network: { readonly proxy?: string; readonly ca_file?: string }
  /** Projects that the key may see: each gets a section. */
  readonly projects: readonly string[]
}

const keyFields: readonly string[] = ['api_key', 'api_key_file', 'api_key_keyring']

type Section = Record<string, unknown>

/**
 * Writes the file with mode 0600, and returns its path. The top of the file has the defaults for commands without a project:
 * those of the first login, until another replaces that key. A key that sees no project (its project was removed, or is not
 * made yet) gets no section, so it becomes the default key. Throws CommandError, and writes nothing, if the defaults are of
 * another service, which would then be sent this key.
 */
export async function saveLogin({ baseUrl, key, network, projects }: Login): Promise<string> {
  const file = configFilePath()
  const config = await readExisting(file)
  const sections = (config['projects'] ?? {}) as Record<string, Section>
  const isDefaultKey = (section: Section): boolean =>
    keyFields.every((name) => section[name] === config[name])
  const hadDefaultKey = projects.some((project) => isDefaultKey(sections[project] ?? {}))
  for (const project of projects)
    sections[project] = { base_url: baseUrl, ...key, ...withoutService(sections[project] ?? {}), ...network }
  if (projects.length > 0) config['projects'] = sections
  if (![config, ...Object.values(sections)].some(isKeyOfNoUrl)) config['base_url'] ??= baseUrl
  if (isUrlOf(config, baseUrl)) {
    // The default key may be of a project that this key does not see: it stays as long as it may be of use.
    const isReplaced = hadDefaultKey && !Object.values(sections).some(isDefaultKey)
    if (isReplaced || projects.length === 0) for (const name of keyFields) delete config[name]
    if (!hasKey(config)) Object.assign(config, key)
    Object.assign(config, network)
  } else if (projects.length === 0) {
    throw new CommandError(
      `the key is accepted, but it sees no project of ${baseUrl} yet, and ${file} already keeps a key or address of another service; ` +
        'log in again when it sees one, or set DOCMOUNT_CONFIG to another file',
    )
  }
  await writePrivately(file, `${JSON.stringify(config, null, 2)}\n`)
  return file
}

function withoutService(section: Section): Section {
  const isOfService = (name: string): boolean => name === 'base_url' || keyFields.includes(name)
  return Object.fromEntries(Object.entries(section).filter(([name]) => !isOfService(name)))
}

function hasKey(section: Section): boolean {
  return keyFields.some((name) => section[name] !== undefined)
}

/** True for a key that would be sent to any URL at the top of the file. */
function isKeyOfNoUrl(section: Section): boolean {
  return section['base_url'] === undefined && hasKey(section)
}

function isUrlOf(section: Section, baseUrl: string): boolean {
  return typeof section['base_url'] === 'string' && isSameUrl(section['base_url'], baseUrl)
}

/** True where a key for this service is in the keyring. */
export async function usesKeyring(baseUrl: string): Promise<boolean> {
  const config = await readExisting(configFilePath())
  const sections = Object.values((config['projects'] ?? {}) as Record<string, Section>)
  return [config, ...sections].some(
    (section) => isUrlOf(section, baseUrl) && section['api_key_keyring'] !== undefined,
  )
}

async function readExisting(file: string): Promise<Section> {
  try {
    return JSON.parse(await readOrdinary(file)) as Section
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
