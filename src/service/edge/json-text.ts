// Refuses text in JSON that cannot be stored as it is: invalid UTF-8, and lone surrogates, which UTF-8 cannot encode. Both would
// become U+FFFD, so that different names become the same, and responses differ from what was sent.

import { ServiceError } from '../service-error.ts'

const utf8 = new TextDecoder('utf-8', { fatal: true })
const escapedSurrogate = /\\u[dD][89a-fA-F]/
const loneSurrogate = /\p{Surrogate}/u

/** Throws ServiceError 400 for invalid UTF-8. */
export function decodeJson(bytes: Buffer): string {
  try {
    return utf8.decode(bytes)
  } catch (error) {
    throw new ServiceError(400, 'the body is not JSON: it is not UTF-8', { cause: error })
  }
}

/** Throws ServiceError 400 for a lone surrogate in a string or name of `value`, which was parsed from `json`. */
export function checkTexts(json: string, value: unknown): void {
  // Valid UTF-8 has no surrogates: only an escape can make one.
  if (escapedSurrogate.test(json)) check(value)
}

function check(value: unknown): void {
  if (typeof value === 'string' && loneSurrogate.test(value))
    throw new ServiceError(
      400,
      'a text of the body has half a surrogate pair, which would not be kept as it is',
    )
  if (typeof value !== 'object' || value === null) return
  for (const [name, inner] of Object.entries(value)) {
    check(name)
    check(inner)
  }
}
