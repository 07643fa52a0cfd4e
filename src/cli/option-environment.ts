// Options of a command as environment variables: `--public-url` of `serve` is DOCMOUNT_SERVE_PUBLIC_URL. The command line
// overrides them.

import { type Command, Option } from 'commander'
import { UsageError } from './usage-error.ts'

const noWords = new Set(['', '0', 'false', 'no', 'off'])
const yesWords = new Set(['1', 'true', 'yes', 'on'])

/** Makes an option that can also be set by the variable `prefix` + name. A switch is off if its variable says no. */
export function optionFromEnvironment(
  prefix: string,
  flags: string,
  description: string,
  parse?: (text: string) => unknown,
): Option {
  const option = new Option(flags, description)
  if (parse !== undefined) option.argParser(parse)
  const name = variableOf(prefix, option)
  const value = process.env[name]
  const isSwitch = !option.required && !option.optional
  // For commander a switch is on whenever its variable exists.
  if (!(isSwitch && value !== undefined && noWords.has(value.toLowerCase()))) option.env(name)
  return option
}

/** Throws a UsageError if the variable of a switch says neither yes nor no: commander would take it for yes. */
export function checkSwitchVariables(command: Command): void {
  for (const option of command.options) {
    const value = option.envVar === undefined ? undefined : process.env[option.envVar]
    if (!option.isBoolean() || value === undefined || yesWords.has(value.toLowerCase())) continue
    throw new UsageError(`${option.envVar} is ${JSON.stringify(value)}: write yes or no`)
  }
}

/** Names, after the prefix, of variables that Kubernetes sets in every container for a service with the name `docmount-serve`. */
const fromKubernetes = /^(?:SERVICE_(?:HOST|PORT)|PORT)(?:_|$)/

/** Throws a UsageError for a variable with this prefix that belongs to no option: a misspelt setting must not be ignored. */
export function refuseUnknownVariables(prefix: string, command: Command): void {
  const known = new Set(command.options.map((option) => variableOf(prefix, option)))
  const isKubernetes = (name: string): boolean => fromKubernetes.test(name.slice(prefix.length))
  const unknown = Object.keys(process.env).find(
    (name) => name.startsWith(prefix) && !known.has(name) && !isKubernetes(name),
  )
  if (unknown !== undefined)
    throw new UsageError(`${unknown} belongs to no option; ${command.name()} --help lists them`)
}

/** Returns the values of an option that may be repeated; in its variable they are separated by commas. */
export function listFromEnvironment(name: string): string[] {
  return (process.env[name] ?? '').split(',').flatMap((text) => text.trim() || [])
}

function variableOf(prefix: string, option: Option): string {
  return `${prefix}${option.name().toUpperCase().replaceAll('-', '_')}`
}
