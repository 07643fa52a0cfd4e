// Where the service and the key are found: environment first, then the config file. Never the command line's arguments,
// since every user of the machine can read those.
//
//   ~/.config/docmount/config.json
//   { "base_url": "https://service.example/api", "api_key_file": "~/.keys/acme", "proxy": "proxy.example:3128",
//     "projects": { "acme": { "base_url": "…", "api_key": "…", "cache_size": "20GiB" } } }

import { stat } from 'node:fs/promises'
import { join, resolve } from 'node:path'
import type { KeySource } from '../api/types.ts'
import { DaemonError } from '../daemon/daemon-error.ts'
import { homeOf, xdgFolder } from '../daemon/xdg.ts'
import type { NetworkSettings } from '../world/network.ts'
import { readOrdinary } from '../ordinary-file.ts'
import { configOptions, type DriveSettings, parseField } from './config-options.ts'
import { keyringKey } from './keyring.ts'

type Environment = Readonly<Record<string, string | undefined>>

/** Settings that hold before the command line's options are looked at. */
export interface Configuration {
  readonly baseUrl: string | undefined
  /** Undefined when no key is configured anywhere. */
  readonly key: KeySource | undefined
  readonly network: NetworkSettings
  /** Options of drives. */
  readonly drive: DriveSettings
}

const fieldNames = ['base_url', 'api_key', 'api_key_file', 'api_key_keyring'] as const
const isKnown = (name: string): boolean => knownFields().includes(name)
const knownFields = (): readonly string[] => [...fieldNames, 'projects', ...configOptions().keys()]
/** Told apart by nothing but letters. */
const plain = (name: string): string =>
  name
    .toLowerCase()
    .replaceAll(/[^a-z]/g, '')
    .replace(/uri$/, 'url')

type Section = Partial<Record<(typeof fieldNames)[number], string>> & { readonly drive: DriveSettings }

/** The settings for a project: its own section of the file before the file's top, the environment before both. */
export async function readConfiguration(
  project: string | undefined,
  env: Environment = process.env,
): Promise<Configuration> {
  const file = configFilePath(env)
  const { top, projects } = await readSections(file, env)
  const own = project === undefined ? nothing : (projects[project] ?? nothing)
  const drive = { ...top.drive, ...own.drive }
  return {
    baseUrl: presentText(env['DOCMOUNT_BASE_URL']) ?? own.base_url ?? top.base_url,
    key: keyFromEnvironment(env) ?? keyFromSection(own, env) ?? keyFromSection(top, env),
    network: networkOf(drive),
    drive,
  }
}

/** The way to a service that some section knows already, under one of its addresses. */
export async function readNetworkOf(
  baseUrls: readonly string[],
  env: Environment = process.env,
): Promise<NetworkSettings> {
  const { top, projects } = await readSections(configFilePath(env), env)
  const found = Object.values(projects).find(({ base_url: url = '' }) => baseUrls.includes(url))
  return networkOf({ ...top.drive, ...found?.drive })
}

/** Projects that have a section. */
export async function configuredProjects(env: Environment = process.env): Promise<readonly string[]> {
  return Object.keys((await readSections(configFilePath(env), env)).projects)
}

const nothing: Section = { drive: {} }

function networkOf({ proxy, caFile }: DriveSettings): NetworkSettings {
  return { proxy: proxy as string | undefined, caFile: caFile as string | undefined }
}

/** Settings of the file alone: those of a daemon that does not see this shell's environment. */
export function readConfigFile(project: string, env: Environment = process.env): Promise<Configuration> {
  const { DOCMOUNT_BASE_URL: _url, DOCMOUNT_API_KEY: _key, DOCMOUNT_API_KEY_FILE: _file, ...rest } = env
  return readConfiguration(project, rest)
}

/** `$DOCMOUNT_CONFIG`, or the usual place. */
export function configFilePath(env: Environment = process.env): string {
  const path = presentText(env['DOCMOUNT_CONFIG'])
  return path === undefined ? join(xdgFolder('config', env), 'config.json') : resolve(path)
}

/** Advice for somebody who has no key configured. */
export const noKeyMessage: string =
  'no API key; run docmount login, or set DOCMOUNT_API_KEY_FILE or DOCMOUNT_API_KEY'

/** And for somebody whose key the service does not take. */
export const otherKeyMessage: string =
  'docmount login takes another key; DOCMOUNT_API_KEY and DOCMOUNT_API_KEY_FILE come before it'

function keyFromEnvironment(env: Environment): KeySource | undefined {
  const key = presentText(env['DOCMOUNT_API_KEY'])
  if (key !== undefined) return key
  const file = presentText(env['DOCMOUNT_API_KEY_FILE'])
  return file === undefined ? undefined : keyFile(file, env)
}

function keyFromSection(section: Section, env: Environment): KeySource | undefined {
  if (section.api_key !== undefined) return section.api_key
  if (section.api_key_keyring !== undefined) return keyringKey(section.api_key_keyring)
  return section.api_key_file === undefined ? undefined : keyFile(section.api_key_file, env)
}

/** Read at every use, so that a rotated key is picked up without a remount. */
function keyFile(path: string, env: Environment): KeySource {
  const file = path.startsWith('~/') ? join(homeOf(env), path.slice(2)) : resolve(path)
  return {
    async read() {
      await refuseReadableByOthers(file).catch(unlessMissing)
      const text = await readOrdinary(file).catch((error: unknown) => {
        throw new DaemonError(`cannot read the key file ${file}: ${reasonOf(error)}`, { cause: error })
      })
      const key = text.trim()
      if (key === '') throw new DaemonError(`the key file ${file} is empty; put the API key into it`)
      return key
    },
  }
}

async function readSections(
  file: string,
  env: Environment,
): Promise<{ top: Section; projects: Record<string, Section> }> {
  let text: string
  try {
    text = await readOrdinary(file)
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return { top: nothing, projects: {} }
    throw new DaemonError(`cannot read ${file}: ${reasonOf(error)}`, { cause: error })
  }
  const value = parseObject(text, file)
  const top = sectionOf(value, { file, env, where: '' })
  const projects: Record<string, Section> = {}
  for (const [name, section] of Object.entries(objectAt(value['projects'] ?? {}, file, '"projects"'))) {
    const where = `"projects"."${name}"`
    projects[name] = sectionOf(objectAt(section, file, where), { file, env, where: `${where}.` })
  }
  if ([top, ...Object.values(projects)].some(holdsSecret)) {
    await refuseReadableByOthers(file)
  }
  return { top, projects }
}

function parseObject(text: string, file: string): Record<string, unknown> {
  try {
    return objectAt(JSON.parse(text), file, 'the file')
  } catch (error) {
    if (error instanceof DaemonError) throw error
    // Not its own words, which may quote the key.
    const line = /line (\d+)/.exec((error as Error).message)?.[1] ?? lineOf(text, error as Error)
    throw new DaemonError(
      `${file} is not valid JSON (line ${line}: a comma too many or too few, or a quote that is missing?); fix it`,
      { cause: error },
    )
  }
}

/** Node 20 tells the position only, and of a text that ends too early nothing. */
function lineOf(text: string, { message }: Error): number {
  const position = Number(/position (\d+)/.exec(message)?.[1] ?? text.length)
  return text.slice(0, position).split('\n').length
}

function objectAt(value: unknown, file: string, what: string): Record<string, unknown> {
  if (typeof value !== 'object' || value === null || Array.isArray(value)) {
    throw new DaemonError(`${file}: ${what} must be a JSON object`)
  }
  return value as Record<string, unknown>
}

interface Place {
  readonly file: string
  readonly env: Environment
  /** Prefix of a field's name in messages: `"projects"."acme".`, or nothing at the top. */
  readonly where: string
}

function sectionOf(value: Record<string, unknown>, { file, env, where }: Place): Section {
  const drive: Record<string, unknown> = {}
  const section: Partial<Record<(typeof fieldNames)[number], string>> = {}
  for (const [name, field] of Object.entries(value)) {
    if (!isKnown(name)) throw new DaemonError(`${file}: the field "${name}" is not known; ${hintFor(name)}`)
    const option = configOptions().get(name)
    if (option !== undefined) {
      try {
        drive[option.attributeName()] = parseField(option, field, env)
      } catch (error) {
        throw new DaemonError(`${file}: ${where}"${name}": ${(error as Error).message}`, { cause: error })
      }
    } else if (name !== 'projects') {
      if (typeof field !== 'string' || field === '')
        throw new DaemonError(`${file}: ${where}"${name}" must be a non-empty text`)
      section[name as (typeof fieldNames)[number]] = field
    }
  }
  return { ...section, drive }
}

function hintFor(unknown: string): string {
  const names = knownFields()
  const meant = names.find((name) => plain(name) === plain(unknown))
  return meant === undefined
    ? `it knows ${[...fieldNames, 'projects'].join(', ')}, and the options of docmount mount, like cache_size`
    : `is "${meant}" meant?`
}

function holdsSecret({ api_key: key, drive }: Section): boolean {
  return key !== undefined || (networkOf(drive).proxy ?? '').includes('@')
}

/** Errors of the system are left to the read that follows, whose message is better. */
function unlessMissing(error: unknown): void {
  if (error instanceof DaemonError) throw error
}

async function refuseReadableByOthers(file: string): Promise<void> {
  const stats = await stat(file)
  // A device has no owner's secrets, and a folder is read as none.
  if (!stats.isFile()) return
  const { mode } = stats
  if ((mode & 0o077) === 0) return
  throw new DaemonError(`${file} holds a key or a password, and others can read it; run: chmod 600 ${file}`)
}

function presentText(value: string | undefined): string | undefined {
  return value === undefined || value === '' ? undefined : value
}

function reasonOf(error: unknown): string {
  return (error as NodeJS.ErrnoException).code ?? (error as Error).message
}
