// Text of JSON that would be kept as another: bytes that are no UTF-8, and halves of surrogate pairs, of which UTF-8 knows none.
// Both would become U+FFFD: two names would be one, and what is answered is not what was sent.

import { ServiceError } from '../service-error.ts'

const utf8 = new TextDecoder('utf-8', { fatal: true })
const escapedSurrogate = /\\u[dD][89a-fA-F]/
const loneSurrogate = /\p{Surrogate}/u

/** Throws ServiceError 400 on what is no UTF-8. */
export function decodeJson(bytes: Buffer): string {
  try {
    return utf8.decode(bytes)
  } catch (error) {
    throw new ServiceError(400, 'the body is not JSON: it is not UTF-8', { cause: error })
  }
}

/** Throws ServiceError 400 on half a surrogate pair in a string or name of `value`, which was made of `json`. */
export function checkTexts(json: string, value: unknown): void {
  // Only an escape can bring one.
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
