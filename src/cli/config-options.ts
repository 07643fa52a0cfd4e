// The options of a drive as fields of the config file, for drives that are mounted at login: `cache_size` there is
// `--cache-size` of `docmount mount`, with the same checks and messages.

import { isAbsolute, join } from 'node:path'
import { type Command, InvalidArgumentError, type Option } from 'commander'
import { homeOf } from '../daemon/xdg.ts'
import { driveOptions, kernelOptions } from './drive-options.ts'

type Environment = Readonly<Record<string, string | undefined>>

/** Option values by commander's attribute names (`cacheSize`). */
export type DriveSettings = Readonly<Record<string, unknown>>

/** Options that concern a single run, or that the config file has as another field (base_url). */
const notForFile = new Set(['base-url', 'foreground', 'quiet'])

let optionsByField: ReadonlyMap<string, Option> | undefined

/** Returns all options that the config file may have, by the name of their field. */
export function configOptions(): ReadonlyMap<string, Option> {
  optionsByField ??= new Map(
    [...driveOptions(), ...kernelOptions()]
      .filter((option) => !notForFile.has(option.name()))
      .map((option) => [fieldOf(option), option]),
  )
  return optionsByField
}

/** Returns `cache_size` for `--cache-size`, and `notify` (which may be false) for `--no-notify`. */
function fieldOf(option: Option): string {
  return option.attributeName().replaceAll(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`)
}

/** Converts a value of the file to the option's. Throws an Error that says what to write, without the value: it may be secret. */
export function parseField(option: Option, value: unknown, env: Environment): unknown {
  if (!option.required && !option.optional) {
    if (typeof value !== 'boolean') throw new Error('write true or false')
    return value
  }
  if (value === true && option.optional) return true
  if ((typeof value !== 'string' && typeof value !== 'number') || value === '')
    throw new Error('write a text or a number')
  const text = String(value)
  if (/<(dir|file)>/.test(option.flags)) return absolutePath(text, env)
  try {
    // The parser of commander also checks the choices.
    return option.parseArg === undefined ? text : option.parseArg(text, undefined as never)
  } catch (error) {
    if (!(error instanceof InvalidArgumentError)) throw error
    const { message } = error
    throw new Error(message.charAt(0).toLowerCase() + message.slice(1).replace(/\.$/, ''), { cause: error })
  }
}

/** Expands `~/`. Throws an Error for a relative path, because the working folder of a daemon is arbitrary. */
function absolutePath(path: string, env: Environment): string {
  if (path.startsWith('~/')) return join(homeOf(env), path.slice(2))
  if (!isAbsolute(path)) throw new Error('write a path that begins with / or ~/')
  return path
}

/** Returns the command's options; settings of the config file replace defaults, but not options of the command line. */
export function withConfigured(command: Command, settings: DriveSettings): Record<string, unknown> {
  const options: Record<string, unknown> = { ...command.opts() }
  const own = new Set(command.options.map((option) => option.attributeName()))
  for (const [name, value] of Object.entries(settings)) {
    const source = command.getOptionValueSource(name)
    if (own.has(name) && (source === undefined || source === 'default')) options[name] = value
  }
  return options
}
