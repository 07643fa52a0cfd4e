// Parser of `--limit name=value`, for the limits of `docmount serve`. Sizes and durations take units; `none` is no limit.

import { InvalidArgumentError } from 'commander'
import type { Limits, ProjectLimits } from '../service/limits.ts'
import { formatBytes } from '../amounts.ts'
import { parseLifetimeMs, parseSizeBytes } from './durations.ts'

type NumericLimit = Exclude<keyof Limits, 'ofProjects'>

/** Names for `--limit`, and the fields of `Limits` they set. Names leave out the unit that fields end in. */
const limits: Readonly<Record<string, NumericLimit>> = {
  name: 'nameBytes',
  path: 'pathBytes',
  depth: 'depth',
  document: 'documentBytes',
  project: 'projectBytes',
  'project-documents': 'projectDocuments',
  'keep-runs': 'keepRunsMs',
  parts: 'parts',
  'uri-parts': 'uriParts',
  multipart: 'multipartBytes',
  upload: 'uploadMs',
  json: 'jsonBytes',
  'json-depth': 'jsonDepth',
  'json-values': 'jsonValues',
  'json-names': 'jsonNames',
  'body-per-second': 'bodyBytesPerSecond',
  'body-period': 'bodyPeriodMs',
  connections: 'connections',
  'requests-per-connection': 'requestsPerConnection',
  'connections-per-address': 'connectionsPerAddress',
  'requests-per-second-per-address': 'requestsPerSecondPerAddress',
  'requests-per-second-per-key': 'requestsPerSecondPerKey',
  'requests-under-way-per-key': 'requestsUnderWayPerKey',
  'json-under-way-per-key': 'jsonBytesUnderWayPerKey',
  'matching-threads': 'matchingThreads',
  'matching-memory': 'matchingBytes',
}

/** A matching process needs a third of this when it starts. */
const leastMatchingBytes = 64 * 2 ** 20

const names: ReadonlyMap<string, NumericLimit> = new Map(Object.entries(limits))
/** Limits that may also be set for one project: `document@acme=10GB`. */
const projectLimits: ReadonlySet<string> = new Set<keyof ProjectLimits>([
  'documentBytes',
  'projectBytes',
  'projectDocuments',
])

/** Returns the limits `before` with one `name=value` or `name@project=value` added. Throws commander's usage error. */
export function addLimit(text: string, before: Partial<Limits> = {}): Partial<Limits> {
  const [, name = '', project, value = ''] = /^([a-z-]+)(?:@([^=]+))?=(.+)$/.exec(text) ?? []
  const limit = names.get(name)
  if (limit === undefined)
    throw new InvalidArgumentError(`Write NAME=VALUE; the names are ${[...names.keys()].join(', ')}.`)
  const amount = readAmount(limit, value)
  if (project === undefined) return { ...before, [limit]: amount }
  if (!projectLimits.has(limit))
    throw new InvalidArgumentError(
      `${name} is no limit of one project; these are: ${[...names].flatMap(([each, of]) => (projectLimits.has(of) ? each : [])).join(', ')}.`,
    )
  return mergeLimits(before, { ofProjects: { [project]: { [limit]: amount } } })
}

/** Merges two sets of limits; `given` overrides `before`. */
export function mergeLimits(before: Partial<Limits>, given: Partial<Limits> = {}): Partial<Limits> {
  const ofProjects = { ...before.ofProjects }
  for (const [project, own] of Object.entries(given.ofProjects ?? {}))
    ofProjects[project] = { ...ofProjects[project], ...own }
  return { ...before, ...given, ...(Object.keys(ofProjects).length === 0 ? {} : { ofProjects }) }
}

function readAmount(limit: NumericLimit, value: string): number {
  if (value === 'none') return 0
  const amount = parseValue(limit, value)
  // In `Limits`, 0 means no limit.
  if (amount === 0)
    throw new InvalidArgumentError(`${value} would let nothing through: write none for no limit.`)
  if (limit === 'matchingBytes' && amount < leastMatchingBytes)
    throw new InvalidArgumentError(`${value} is too little for a process: write 64MiB or more.`)
  return amount
}

/** Returns `name=default` of all limits, separated by two spaces, for the help. */
export function describeLimits(defaults: Limits): string {
  return [...names].map(([name, limit]) => `${name}=${textOf(limit, defaults[limit])}`).join('  ')
}

function parseValue(limit: NumericLimit, value: string): number {
  if (limit.endsWith('Ms')) return parseLifetimeMs(value)
  if (/bytes/i.test(limit)) return parseSizeBytes(value)
  if (!/^\d+$/.test(value)) throw new InvalidArgumentError(`${value} is not a whole number.`)
  return Number(value)
}

function textOf(limit: NumericLimit, value: number): string {
  if (value === 0) return 'none'
  if (limit.endsWith('Ms')) return `${value / 1000}s`
  return /bytes/i.test(limit) && value % 2 ** 20 === 0
    ? formatBytes(value).replace(/(\.0)? /, '')
    : String(value)
}
