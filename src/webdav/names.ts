// From a request's address to names and back. Names that no filesystem may see are refused here: `..`, NUL, encoded
// slashes, and bytes that are no UTF-8.

import { Refused } from './refused.ts'

/** The names from the root down; empty for the root. Throws Refused (400). */
export function namesOfTarget(target: string): string[] {
  if (target.includes('#')) throw new Refused(400, 'an address in a request has no fragment')
  const path = (target.startsWith('/') ? target : pathOfUrl(target)).split('?')[0] ?? ''
  return path
    .split('/')
    .filter((segment) => segment !== '')
    .map(decode)
}

function pathOfUrl(target: string): string {
  const match = /^https?:\/\/[^/?]*([^]*)$/i.exec(target)
  if (match === null) throw new Refused(400, 'the address is neither a path nor a URL')
  return match[1] ?? ''
}

function decode(segment: string): string {
  let name: string
  try {
    name = decodeURIComponent(segment)
  } catch {
    throw new Refused(400, 'a name in the address is not percent-encoded UTF-8')
  }
  if (name === '.' || name === '..') throw new Refused(400, 'an address has no . and no ..')
  if (name.includes('/') || name.includes('\0')) throw new Refused(400, 'a name has no slash and no NUL')
  return name
}

/** The address of a resource; a folder's ends in a slash. */
export function hrefOf(names: readonly string[], isFolder: boolean): string {
  const path = names.map((name) => `/${encode(name)}`).join('')
  return isFolder ? `${path}/` : path
}

/** RFC 3986 leaves these four to schemes; XML and headers are better off without them. */
function encode(name: string): string {
  return encodeURIComponent(name).replace(
    /[!'()*]/g,
    (sign) => `%${sign.charCodeAt(0).toString(16).toUpperCase()}`,
  )
}

/** As a key for maps: absolute in the project. */
export function pathOf(names: readonly string[]): string {
  return `/${names.join('/')}`
}

/** A name as other systems may spell it: as it came, composed, decomposed. */
export function spellingsOf(name: string): readonly string[] {
  if (/^[\u0020-\u007e]*$/.test(name)) return [name]
  return [...new Set([name, name.normalize('NFC'), name.normalize('NFD')])]
}
