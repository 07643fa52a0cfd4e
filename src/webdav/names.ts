// Conversion between addresses and names. Dangerous names are refused here: `..`, NUL, encoded slashes, and invalid UTF-8.

import { Refused } from './refused.ts'

/** Returns the names from the root down; none for the root. Throws Refused (400). */
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

/** Returns the address path of a resource; a folder's ends in a slash. */
export function hrefOf(names: readonly string[], isFolder: boolean): string {
  const path = names.map((name) => `/${encode(name)}`).join('')
  return isFolder ? `${path}/` : path
}

/** Percent-encodes a name, also the characters `!'()*`, which could cause trouble in XML and headers. */
function encode(name: string): string {
  return encodeURIComponent(name).replace(
    /[!'()*]/g,
    (sign) => `%${sign.charCodeAt(0).toString(16).toUpperCase()}`,
  )
}

/** Returns the absolute path in the project, used as a key. */
export function pathOf(names: readonly string[]): string {
  return `/${names.join('/')}`
}

/** Returns the Unicode forms of a name that other systems may use: unchanged, composed (NFC), decomposed (NFD). */
export function spellingsOf(name: string): readonly string[] {
  if (/^[\u0020-\u007e]*$/.test(name)) return [name]
  return [...new Set([name, name.normalize('NFC'), name.normalize('NFD')])]
}
