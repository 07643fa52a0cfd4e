// Every option of a command as a variable of the environment: `--public-url` of `serve` is DOCMOUNT_SERVE_PUBLIC_URL.
// The command line counts more.

import { type Command, Option } from 'commander'
import { UsageError } from './usage-error.ts'

const noes = new Set(['', '0', 'false', 'no', 'off'])
const yeses = new Set(['1', 'true', 'yes', 'on'])

/** An option that may come from `prefix` and its name. A switch is off where its variable says no. */
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
  // Commander takes a switch as on as soon as its variable exists.
  if (!(isSwitch && value !== undefined && noes.has(value.toLowerCase()))) option.env(name)
  return option
}

/** Throws a UsageError where the variable of a switch says neither yes nor no: commander would take it for yes. */
export function checkSwitches(command: Command): void {
  for (const option of command.options) {
    const value = option.envVar === undefined ? undefined : process.env[option.envVar]
    if (!option.isBoolean() || value === undefined || yeses.has(value.toLowerCase())) continue
    throw new UsageError(`${option.envVar} is ${JSON.stringify(value)}: write yes or no`)
  }
}

/** Variables that Kubernetes sets in every container for a service that is called like the prefix. */
const fromKubernetes = /^(?:SERVICE_(?:HOST|PORT)|PORT)(?:_|$)/

/** Throws a UsageError for a variable with this prefix that is no option's: what somebody wanted would not be so. */
export function checkNames(prefix: string, command: Command): void {
  const known = new Set(command.options.map((option) => variableOf(prefix, option)))
  const isOthers = (name: string): boolean => fromKubernetes.test(name.slice(prefix.length))
  const unknown = Object.keys(process.env).find(
    (name) => name.startsWith(prefix) && !known.has(name) && !isOthers(name),
  )
  if (unknown !== undefined)
    throw new UsageError(`${unknown} belongs to no option; ${command.name()} --help lists them`)
}

/** For options that may be repeated: in the environment, commas stand between the values. */
export function listFromEnvironment(name: string): string[] {
  return (process.env[name] ?? '').split(',').flatMap((text) => text.trim() || [])
}

function variableOf(prefix: string, option: Option): string {
  return `${prefix}${option.name().toUpperCase().replaceAll('-', '_')}`
}
