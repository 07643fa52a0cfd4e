// Parts shared by the commands for tables: choosing the project and the table, and reading JSON from a file or stdin.

import { text } from 'node:stream/consumers'
import type { Tables } from '../api/table-types.ts'
import { CommandError } from './command-error.ts'
import { parseJson } from '../parse-json.ts'
import { type ServiceOptions, chooseProject, withClient } from './connect.ts'
import { readLocal } from './read-local.ts'
import { UsageError } from './usage-error.ts'

export interface TableOptions extends ServiceOptions {
  readonly project?: string
}

/** For `.option(…)`: the flag and its description. */
export const projectOption: readonly [string, string] = [
  '--project <name>',
  'the project (default: $DOCMOUNT_PROJECT, or the only one the key sees)',
]

/** Calls `work` with the tables of --project, else of $DOCMOUNT_PROJECT, else of the only project. Throws as `withClient`. */
export async function withTables<T>(
  options: TableOptions,
  work: (tables: Tables, signal: AbortSignal) => Promise<T>,
): Promise<T> {
  const named = options.project ?? (process.env['DOCMOUNT_PROJECT'] || undefined)
  return await withClient(named, options, async (client, signal) => {
    const project = await chooseProject(client, named, signal)
    return await work(client.tables(project), signal)
  })
}

/** Form of ids (interface: uuid). */
export const uuid: RegExp = /^[\da-f]{8}(-[\da-f]{4}){3}-[\da-f]{12}$/i

/** Returns the id of a table given by name or id. Throws CommandError if no table, or several, have the name. */
export async function tableIdOf(tables: Tables, nameOrId: string, signal: AbortSignal): Promise<string> {
  if (uuid.test(nameOrId)) return nameOrId
  const all = await tables.list({ signal })
  const [found, ...others] = all.filter((table) => table.name === nameOrId && table.id !== undefined)
  if (found?.id === undefined) {
    const names = all.map(({ name }) => name ?? '?').join(', ')
    const hint = names === '' ? 'there is none yet (docmount tables create)' : `there is ${names}`
    throw new CommandError(`no table is called "${nameOrId}"; ${hint}`)
  }
  if (others.length > 0) {
    const ids = [found, ...others].map(({ id }) => id).join(', ')
    throw new CommandError(`several tables are called "${nameOrId}"; use an id: ${ids}`)
  }
  return found.id
}

/** Reads a JSON object from a file, or from stdin for `-`. Throws UsageError for any other content. */
export async function readJsonObject(file: string): Promise<Record<string, unknown>> {
  const json = file === '-' ? await text(process.stdin) : (await readLocal(file)).toString()
  const value = parseJson(json)
  if (typeof value === 'object' && value !== null && !Array.isArray(value))
    return value as Record<string, unknown>
  throw new UsageError(`${file === '-' ? 'standard input' : file} must hold one JSON object`)
}
