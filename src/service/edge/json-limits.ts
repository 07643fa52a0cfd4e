// Limits on JSON that are checked on its text, before it is parsed: a few megabytes of brackets would become gigabytes of objects.

import { type Limits, exceeds } from '../limits.ts'
import { ServiceError } from '../service-error.ts'

const quote = 0x22
const comma = 0x2c
const openingArray = 0x5b
const closingArray = 0x5d
const backslash = 0x5c
const openingObject = 0x7b
const closingObject = 0x7d

/**
 * Throws ServiceError 400 for JSON that is nested too deeply, 413 for too many values, or too many names in one object: V8 takes
 * as long for one name as for ten values of a list. Does not detect invalid JSON.
 */
export function checkJson(text: Buffer, { jsonDepth, jsonValues, jsonNames }: Limits): void {
  let depth = 0
  let values = 0
  /** By depth: number of names so far in an object; undefined for an array. */
  const names: (number | undefined)[] = []
  for (let at = 0; at < text.byteLength; at++) {
    const byte = text[at]
    if (byte === quote) {
      at = findClosingQuote(text, at + 1)
      if (at === -1) return
    } else if (byte === openingArray || byte === openingObject) {
      values++
      names[depth++] = byte === openingObject ? 1 : undefined
      if (exceeds(depth, jsonDepth))
        throw new ServiceError(400, `the body is nested more than ${jsonDepth} levels deep`)
    } else if (byte === closingArray || byte === closingObject) {
      depth = Math.max(0, depth - 1)
    } else if (byte === comma) {
      values++
      const count = names[depth - 1]
      if (count !== undefined && exceeds(count + 1, jsonNames))
        throw new ServiceError(413, `an object of the body has more than ${jsonNames} names`)
      if (count !== undefined) names[depth - 1] = count + 1
    }
    if (exceeds(values, jsonValues))
      throw new ServiceError(413, `the body holds more than ${jsonValues} values: send it in several`)
  }
}

/** Index of the first quote from `at` on that no backslash escapes, or −1. The byte at `at` must not be escaped. */
export function findClosingQuote(chunk: Buffer, at: number): number {
  for (let found = chunk.indexOf(quote, at); found !== -1; found = chunk.indexOf(quote, found + 1)) {
    let escapes = found
    while (escapes > at && chunk[escapes - 1] === backslash) escapes--
    if ((found - escapes) % 2 === 0) return found
  }
  return -1
}
