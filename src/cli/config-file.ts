// Reads the service's URL, the key and a drive's options: from the environment first, then from the config file. A key is never
// an argument, because every user of the machine can read those.
//
//   ~/.config/docmount/config.json
//   { "base_url": "https://service.example/api", "api_key_file": "~/.keys/acme", "proxy": "proxy.example:3128",
//     "projects": { "acme": { "base_url": "…", "api_key": "…", "cache_size": "20GiB" } } }

import { stat } from 'node:fs/promises'
import { join, resolve } from 'node:path'
import type { KeySource } from '../api/types.ts'
import { CommandError } from './command-error.ts'
import { homeOf, xdgFolder } from '../daemon/xdg.ts'
import type { NetworkSettings } from '../world/network.ts'
import { readOrdinary } from '../ordinary-file.ts'
import { configOptions, type DriveSettings, parseField } from './config-options.ts'
import { keyringKey } from './keyring.ts'

type Environment = Readonly<Record<string, string | undefined>>

/** Settings from the environment and the config file; options of the command line override them. */
export interface Configuration {
  readonly baseUrl: string | undefined
  /** Undefined when no key is configured anywhere. */
  readonly key: KeySource | undefined
  readonly network: NetworkSettings
  /** A drive's options, from the config file. */
  readonly drive: DriveSettings
}

const fieldNames = ['base_url', 'api_key', 'api_key_file', 'api_key_keyring'] as const
const isKnown = (name: string): boolean => knownFields().includes(name)
const knownFields = (): readonly string[] => [...fieldNames, 'projects', ...configOptions().keys()]
/** A field's name without case, digits and punctuation, to recognise a misspelt one (`Base-URI` is `base_url`). */
const lettersOf = (name: string): string =>
  name
    .toLowerCase()
    .replaceAll(/[^a-z]/g, '')
    .replace(/uri$/, 'url')

type Section = Partial<Record<(typeof fieldNames)[number], string>> & { readonly drive: DriveSettings }

/**
 * Returns the settings for a project: from the environment, else from the project's section of the config file, else from the
 * file's top level, whose key is for no other URL than the one there. Throws CommandError if the file cannot be read or is
 * invalid.
 */
export async function readConfiguration(
  project: string | undefined,
  env: Environment = process.env,
): Promise<Configuration> {
  const file = configFilePath(env)
  const { top, projects } = await readSections(file, env)
  const own = project === undefined ? emptySection : (projects[project] ?? emptySection)
  const drive = { ...top.drive, ...own.drive }
  // A key is for the URL beside it.
  const isOfTop =
    own.base_url === undefined || top.base_url === undefined || isSameUrl(own.base_url, top.base_url)
  return {
    baseUrl: presentText(env['DOCMOUNT_BASE_URL']) ?? own.base_url ?? top.base_url,
    key:
      keyFromEnvironment(env) ?? keyFromSection(own, env) ?? (isOfTop ? keyFromSection(top, env) : undefined),
    network: networkOf(drive),
    drive,
  }
}

/** True for URLs that differ at most in a slash at the end. */
export function isSameUrl(one: string, other: string): boolean {
  return one.replace(/\/+$/, '') === other.replace(/\/+$/, '')
}

/** For `docmount login`, before a project is known: proxy and CA file of a section with one of these URLs, else of the file. */
export async function readNetworkOf(
  baseUrls: readonly string[],
  env: Environment = process.env,
): Promise<NetworkSettings> {
  const { top, projects } = await readSections(configFilePath(env), env)
  const found = Object.values(projects).find(({ base_url: url = '' }) =>
    baseUrls.some((each) => isSameUrl(each, url)),
  )
  return networkOf({ ...top.drive, ...found?.drive })
}

/** Returns the names of the projects that have a section in the config file. */
export async function configuredProjects(env: Environment = process.env): Promise<readonly string[]> {
  return Object.keys((await readSections(configFilePath(env), env)).projects)
}

const emptySection: Section = { drive: {} }

function networkOf({ proxy, caFile }: DriveSettings): NetworkSettings {
  return { proxy: proxy as string | undefined, caFile: caFile as string | undefined }
}

/** As `readConfiguration`, without URL and key of the environment: a daemon that systemd starts does not have these variables. */
export function readConfigFile(project: string, env: Environment = process.env): Promise<Configuration> {
  const { DOCMOUNT_BASE_URL: _url, DOCMOUNT_API_KEY: _key, DOCMOUNT_API_KEY_FILE: _file, ...rest } = env
  return readConfiguration(project, rest)
}

/** Returns the config file's path: `$DOCMOUNT_CONFIG`, else `docmount/config.json` in the user's config folder. */
export function configFilePath(env: Environment = process.env): string {
  const path = presentText(env['DOCMOUNT_CONFIG'])
  return path === undefined ? join(xdgFolder('config', env), 'config.json') : resolve(path)
}

/** Message if no key is configured. */
export const noKeyMessage: string =
  'no API key; run docmount login, or set DOCMOUNT_API_KEY_FILE or DOCMOUNT_API_KEY'

/** Advice if the service refuses the key. */
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

/** A key that is read from its file at every use, so that a rotated key needs no remount. */
function keyFile(path: string, env: Environment): KeySource {
  const file = path.startsWith('~/') ? join(homeOf(env), path.slice(2)) : resolve(path)
  return {
    async read() {
      await refuseReadableByOthers(file).catch(ignoreStatError)
      const text = await readOrdinary(file).catch((error: unknown) => {
        throw new CommandError(`cannot read the key file ${file}: ${reasonOf(error)}`, { cause: error })
      })
      const key = text.trim()
      if (key === '') throw new CommandError(`the key file ${file} is empty; put the API key into it`)
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
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return { top: emptySection, projects: {} }
    throw new CommandError(`cannot read ${file}: ${reasonOf(error)}`, { cause: error })
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
    if (error instanceof CommandError) throw error
    // The parser's message may quote the key, so only its line number is shown.
    const line = /line (\d+)/.exec((error as Error).message)?.[1] ?? lineOf(text, error as Error)
    throw new CommandError(
      `${file} is not valid JSON (line ${line}: a comma too many or too few, or a quote that is missing?); fix it`,
      { cause: error },
    )
  }
}

/** Returns the line of a JSON error. Node 20 gives only the position, and none if the text ends too early: then the last line. */
function lineOf(text: string, { message }: Error): number {
  const position = Number(/position (\d+)/.exec(message)?.[1] ?? text.length)
  return text.slice(0, position).split('\n').length
}

function objectAt(value: unknown, file: string, what: string): Record<string, unknown> {
  if (typeof value !== 'object' || value === null || Array.isArray(value)) {
    throw new CommandError(`${file}: ${what} must be a JSON object`)
  }
  return value as Record<string, unknown>
}

interface SectionContext {
  readonly file: string
  readonly env: Environment
  /** Prefix of a field's name in messages: `"projects"."acme".`, or nothing at the top. */
  readonly where: string
}

function sectionOf(value: Record<string, unknown>, { file, env, where }: SectionContext): Section {
  const drive: Record<string, unknown> = {}
  const section: Partial<Record<(typeof fieldNames)[number], string>> = {}
  for (const [name, field] of Object.entries(value)) {
    if (!isKnown(name)) throw new CommandError(`${file}: the field "${name}" is not known; ${hintFor(name)}`)
    const option = configOptions().get(name)
    if (option !== undefined) {
      try {
        drive[option.attributeName()] = parseField(option, field, env)
      } catch (error) {
        throw new CommandError(`${file}: ${where}"${name}": ${(error as Error).message}`, { cause: error })
      }
    } else if (name !== 'projects') {
      if (typeof field !== 'string' || field === '')
        throw new CommandError(`${file}: ${where}"${name}" must be a non-empty text`)
      section[name as (typeof fieldNames)[number]] = field
    }
  }
  return { ...section, drive }
}

function hintFor(unknown: string): string {
  const names = knownFields()
  const meant = names.find((name) => lettersOf(name) === lettersOf(unknown))
  return meant === undefined
    ? `it knows ${[...fieldNames, 'projects'].join(', ')}, and the options of docmount mount, like cache_size`
    : `is "${meant}" meant?`
}

function holdsSecret({ api_key: key, drive }: Section): boolean {
  return key !== undefined || (networkOf(drive).proxy ?? '').includes('@')
}

/** Ignores errors of stat: the read that follows fails, too, with a better message. */
function ignoreStatError(error: unknown): void {
  if (error instanceof CommandError) throw error
}

async function refuseReadableByOthers(file: string): Promise<void> {
  const stats = await stat(file)
  // Only regular files are checked: a pipe or device (/dev/stdin) has other modes, and a folder cannot be read anyway.
  if (!stats.isFile()) return
  const { mode } = stats
  if ((mode & 0o077) === 0) return
  throw new CommandError(`${file} holds a key or a password, and others can read it; run: chmod 600 ${file}`)
}

function presentText(value: string | undefined): string | undefined {
  return value === undefined || value === '' ? undefined : value
}

function reasonOf(error: unknown): string {
  return (error as NodeJS.ErrnoException).code ?? (error as Error).message
}
