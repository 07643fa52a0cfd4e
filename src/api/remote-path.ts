// Paths and names in requests: checked and encoded.

import { InputError } from './errors.ts'

/** Returns the path with one slash in front and none at the end. Throws InputError for a NUL character or a ".." segment. */
export function normalisePath(path: string): string {
  if (path.includes('\0')) throw new InputError('a path must not hold a NUL character')
  if (path.split('/').includes('..')) {
    throw new InputError(`the path ${JSON.stringify(path)} holds a ".." segment, which the service refuses`)
  }
  return `/${path.replace(/^\/+/, '').replace(/\/+$/, '')}`
}

/** Returns `/projects/NAME`, encoded, and `rest`. Throws InputError for a name that no URL can contain. */
export function projectTarget(project: string, rest: string): string {
  return `/projects/${encodeSegment(project, 'project name')}${rest}`
}

/** Returns a path segment, encoded. Throws InputError for "", "." and "..", which would change the path; `what` names it. */
export function encodeSegment(text: string, what: string): string {
  if (text === '' || text === '.' || text === '..')
    throw new InputError(`${JSON.stringify(text)} is not a ${what}`)
  return encode(text, what)
}

/** Returns a path for a URL's query, encoded. Throws InputError for text that is not valid Unicode. */
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
