// The conditional headers of HTTP (RFC 9110, section 13), evaluated in its order. For WebDAV's `If` header see if-header.ts.

import type { IncomingHttpHeaders } from 'node:http'
import type { Attributes } from '../fs/operations.ts'
import { entityTag } from './entity-tag.ts'
import { Refused } from './refused.ts'

/**
 * Throws Refused: 412, or 304 for a read request. `attributes`: those of the current resource; undefined if there is none. A folder
 * has no entity tag.
 */
export function checkConditions(
  headers: IncomingHttpHeaders,
  attributes: Attributes | undefined,
  isRead: boolean,
): void {
  const match = headers['if-match']
  const noneMatch = headers['if-none-match']
  if (match !== undefined) {
    if (!matches(match, attributes)) throw new Refused(412, 'the document is not the expected one')
  } else if (isLater(attributes, headers['if-unmodified-since'])) {
    throw new Refused(412, 'the document was changed')
  }
  if (noneMatch !== undefined) {
    if (!matches(noneMatch, attributes)) return
    if (!isRead) throw new Refused(412, 'there is such a document already')
    throw notModified(attributes)
  }
  const since = headers['if-modified-since']
  if (isRead && attributes !== undefined && isDate(since) && !isLater(attributes, since))
    throw notModified(attributes)
}

/** True if a range may be served: `If-Range` is absent, or matches the current content. */
export function isRangeValid(ifRange: string | undefined, attributes: Attributes): boolean {
  if (ifRange === undefined || ifRange === entityTag(attributes)) return true
  return isDate(ifRange) && Date.parse(ifRange) === attributes.mtime.sec * 1000
}

function matches(list: string, attributes: Attributes | undefined): boolean {
  if (attributes === undefined) return false
  if (list.trim() === '*') return true
  if (attributes.kind === 'folder') return false
  const tag = entityTag(attributes)
  return list.split(',').some((one) => one.trim().replace(/^W\//, '') === tag)
}

function isLater(attributes: Attributes | undefined, date: string | undefined): boolean {
  return attributes !== undefined && isDate(date) && attributes.mtime.sec * 1000 > Date.parse(date)
}

function isDate(text: string | undefined): text is string {
  return text !== undefined && !Number.isNaN(Date.parse(text))
}

function notModified(attributes: Attributes | undefined): Refused {
  const headers = attributes === undefined ? {} : { etag: entityTag(attributes) }
  return new Refused(304, 'not modified', { headers })
}
