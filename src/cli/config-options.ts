// The options of a drive as fields of the config file: a drive that is mounted at login sees no shell. `cache_size` there is
// `--cache-size` of `docmount mount`, checked in the same words.

import { isAbsolute, join } from 'node:path'
import { type Command, InvalidArgumentError, type Option } from 'commander'
import { homeOf } from '../daemon/xdg.ts'
import { driveOptions, kernelOptions } from './drive-options.ts'

type Environment = Readonly<Record<string, string | undefined>>

/** By the names that commander gives their values. */
export type DriveSettings = Readonly<Record<string, unknown>>

/** Options that belong to one run, or have a field of their own. */
const notForFile = new Set(['base-url', 'foreground', 'quiet'])

let known: ReadonlyMap<string, Option> | undefined

/** Every field, and the option it stands for. */
export function configOptions(): ReadonlyMap<string, Option> {
  known ??= new Map(
    [...driveOptions(), ...kernelOptions()]
      .filter((option) => !notForFile.has(option.name()))
      .map((option) => [fieldOf(option), option]),
  )
  return known
}

/** `cacheSize` is `cache_size`; `--no-notify` is `notify`, which may be false. */
function fieldOf(option: Option): string {
  return option.attributeName().replaceAll(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`)
}

/** The option's value for a value of the file. Throws an Error that says what to write, and never quotes the value, which may be secret. */
export function parseField(option: Option, value: unknown, env: Environment): unknown {
  if (!option.required && !option.optional) {
    if (typeof value !== 'boolean') throw new Error('write true or false')
    return value
  }
  if (value === true && option.optional) return true
  if ((typeof value !== 'string' && typeof value !== 'number') || value === '')
    throw new Error('write a text or a number')
  const text = String(value)
  if (/<(dir|file)>/.test(option.flags)) return placeOf(text, env)
  try {
    // The parser of commander also checks the choices.
    return option.parseArg === undefined ? text : option.parseArg(text, undefined as never)
  } catch (error) {
    if (!(error instanceof InvalidArgumentError)) throw error
    const { message } = error
    throw new Error(message.charAt(0).toLowerCase() + message.slice(1).replace(/\.$/, ''), { cause: error })
  }
}

/** Relative paths are refused: the working folder of a daemon is arbitrary. */
function placeOf(path: string, env: Environment): string {
  if (path.startsWith('~/')) return join(homeOf(env), path.slice(2))
  if (!isAbsolute(path)) throw new Error('write a path that begins with / or ~/')
  return path
}

/** The command's options, and where none was given, the config file's. */
export function withConfigured(command: Command, settings: DriveSettings): Record<string, unknown> {
  const options: Record<string, unknown> = { ...command.opts() }
  const own = new Set(command.options.map((option) => option.attributeName()))
  for (const [name, value] of Object.entries(settings)) {
    const source = command.getOptionValueSource(name)
    if (own.has(name) && (source === undefined || source === 'default')) options[name] = value
  }
  return options
}
