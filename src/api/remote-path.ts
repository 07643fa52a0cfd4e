// Paths and names as they go into a request: checked and encoded, never put together raw.

import { InputError } from './errors.ts'

/** An absolute path with one leading slash and none at the end. Throws InputError for what the service must not see. */
export function normalisePath(path: string): string {
  if (path.includes('\0')) throw new InputError('a path must not hold a NUL character')
  if (path.split('/').includes('..')) {
    throw new InputError(`the path ${JSON.stringify(path)} holds a ".." segment, which the service refuses`)
  }
  return `/${path.replace(/^\/+/, '').replace(/\/+$/, '')}`
}

/** `/projects/NAME/rest`, encoded. Throws InputError for a name no URL can carry. */
export function projectTarget(project: string, rest: string): string {
  return `/projects/${encodeSegment(project, 'project name')}${rest}`
}

/** One path segment of a URL, encoded. Throws InputError where it would vanish or be read as another path. */
export function encodeSegment(text: string, what: string): string {
  if (text === '' || text === '.' || text === '..')
    throw new InputError(`${JSON.stringify(text)} is not a ${what}`)
  return encode(text, what)
}

/** A value of a query, encoded. Throws InputError for text that is not Unicode. */
export function encodePath(path: string): string {
  return encode(path, 'path')
}

function encode(text: string, what: string): string {
  try {
    return encodeURIComponent(text)
  } catch {
    throw new InputError(`the ${what} ${JSON.stringify(text)} is not valid Unicode`)
  }
}
