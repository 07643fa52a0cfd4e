// Download address of a document, for a person to pass on.

import type { Files } from '../../api/types.ts'
import { urlLifetimeMs } from '../../api/url-lifetime.ts'
import { ErrnoError } from '../../errno-error.ts'
import type { Clock } from '../../world/clock.ts'
import type { Link, Place } from '../status.ts'
import { placeOf, type PlaceParts } from './place.ts'

export interface LinkParts extends PlaceParts {
  readonly files: Files
  readonly clock: Clock
}

const deadlineMs = 10_000

/**
 * Returns the download address. Always asks the service, so that its whole lifetime is left. Throws ErrnoError for a path at
 * which the service has no document that is shown here; ApiError; NetworkError.
 */
export async function linkOf(parts: LinkParts, path: string): Promise<Link> {
  const reason = whyNoLink(await placeOf(parts, path))
  if (reason !== undefined) throw new ErrnoError('ENODATA', `${path} ${reason}`)
  const askedAtMs = parts.clock.wall()
  const record = await parts.files.get(path, { deadlineMs })
  if (record.kind !== 'file') throw new ErrnoError('EISDIR', `${path} ${isFolder}`)
  if (record.url === undefined)
    throw new ErrnoError('ENODATA', `the service gave no download address for ${path}`)
  return { path, url: record.url, until: new Date(askedAtMs + urlLifetimeMs).toISOString() }
}

const isFolder = 'is a folder; only documents have a download address'

function whyNoLink(place: Place): string | undefined {
  switch (place.state) {
    case 'stored':
    case 'unknown':
      return undefined
    case 'folder':
      return isFolder
    case 'absent':
      return 'is neither in the service nor on this machine'
    case 'unsent':
      return 'is not sent yet; docmount wait returns when it is'
    case 'refused':
      return `is not in the service: ${place.why}`
    case 'here':
      return `is on this machine only: ${place.why}`
  }
}
