// Conversion of the service's JSON into our types. Fields that the interface calls optional may be absent or null, unknown
// fields are ignored; any other deviation is a NetworkError "protocol". Files and folders are more tolerant: an invalid entry
// is left out, an invalid field counts as absent.

import type { Timers } from '../world/clock.ts'
import { NetworkError } from './errors.ts'
import type { CallDescription } from './errors.ts'
import { entriesFromWire } from './entries.ts'
import { fileOf } from './file-fields.ts'
import type { FolderListing, Project, RemoteFile } from './types.ts'

type Fields = Record<string, unknown>

/** interface, "GET /projects". */
export function projectsFromWire(call: CallDescription, value: unknown): Project[] {
  return arrayOf(call, value, 'projects').map((item) => {
    const fields = objectOf(call, item, 'a project')
    return {
      id: required(call, fields, 'id', 'string'),
      name: required(call, fields, 'name', 'string'),
      createdAt: optional(call, fields, 'created_at', 'string'),
    }
  })
}

/** interface, "GET /projects/{project_name}/files": a file or folder, by `ftype`. `name`: used if the response has none. */
export async function nodeFromWire(
  call: CallDescription,
  value: unknown,
  name: string,
  timers: Timers,
): Promise<RemoteFile | FolderListing> {
  const fields = objectOf(call, value, 'a file or folder')
  if (fields['ftype'] === 'file') return fileOf(nameOf(fields, name), fields)
  if (fields['ftype'] !== 'folder') throw wrongShape(call, 'ftype is neither "file" nor "folder"')
  const wireEntries = arrayOf(call, fields['entries'], "the folder's entries")
  return { kind: 'folder', name: nameOf(fields, name), ...(await entriesFromWire(wireEntries, timers)) }
}

/** interface, "File": the response to an upload. An empty one is a success, too; `name` is used if the response has none. */
export function fileFromWire(call: CallDescription, value: unknown, name: string): RemoteFile {
  const fields = value === undefined ? {} : objectOf(call, value, 'a file')
  if (fields['ftype'] === 'folder') throw wrongShape(call, 'it is a folder, not a file')
  return fileOf(nameOf(fields, name), fields)
}

function nameOf({ name }: Fields, fallback: string): string {
  return typeof name === 'string' ? name : fallback
}

interface TypeOf {
  string: string
  number: number
  boolean: boolean
}

/** Returns a field that may be absent or null. Throws NetworkError "protocol" for a value of another type. */
export function optional<T extends keyof TypeOf>(
  call: CallDescription,
  fields: Fields,
  name: string,
  type: T,
): TypeOf[T] | undefined {
  const value = fields[name]
  if (value === undefined || value === null) return undefined
  if (typeof value !== type) throw wrongShape(call, `${name} is not a ${type}`)
  return value as TypeOf[T]
}

/** Returns a field; throws NetworkError "protocol" if it is absent or of another type. */
export function required<T extends keyof TypeOf>(
  call: CallDescription,
  fields: Fields,
  name: string,
  type: T,
): TypeOf[T] {
  const value = optional(call, fields, name, type)
  if (value === undefined) throw wrongShape(call, `${name} is missing`)
  return value
}

/** Returns an object that may be absent or null, with its fields unchecked. */
export function optionalObject(call: CallDescription, fields: Fields, name: string): Fields | undefined {
  const value = fields[name]
  return value === undefined || value === null ? undefined : objectOf(call, value, name)
}

export function objectOf(call: CallDescription, value: unknown, what: string): Fields {
  if (typeof value !== 'object' || value === null || Array.isArray(value)) {
    throw wrongShape(call, `${what} is not an object`)
  }
  return value as Fields
}

export function arrayOf(call: CallDescription, value: unknown, what: string): readonly unknown[] {
  if (!Array.isArray(value)) throw wrongShape(call, `${what}: not an array`)
  return value
}

export function stringsOf(call: CallDescription, value: unknown, what: string): readonly string[] {
  return arrayOf(call, value, what).map((item) => {
    if (typeof item !== 'string') throw wrongShape(call, `${what}: not an array of strings`)
    return item
  })
}

/** Returns the error for JSON that does not conform to the interface. */
function wrongShape(call: CallDescription, detail: string): NetworkError {
  return new NetworkError(call, 'protocol', `the answer is not what the interface says: ${detail}`)
}
