// The content an intention carries: what is sent must be what was journaled, byte by byte.

import { ErrnoError } from '../../errno-error.ts'
import type { Digest } from '../digest.ts'
import type { Intention } from '../intention.ts'
import type { Spool } from '../spool/spool.ts'
import type { SpoolFile } from '../spool/spool-file.ts'

/** True where its content is in the spool. */
export function hasContent(spool: Spool, intention: Intention): intention is Intention & { spool: string } {
  return intention.spool !== undefined && spool.has(intention.spool)
}

/** Throws EBADMSG where somebody removed it. */
export function contentOf(spool: Spool, { path }: Intention, id: string): SpoolFile {
  if (spool.has(id)) return spool.get(id)
  throw damaged(path, 'it is gone')
}

/** Waiting would not help, and nothing of it may be sent: the user decides. */
export function damaged(path: string, how: string): ErrnoError {
  return new ErrnoError(
    'EBADMSG',
    `${path}: the content kept on this machine is damaged (${how}): nothing was sent, what the service has stays`,
  )
}

export function otherThan(saved: Digest, found: Digest): string {
  return saved.size === found.size
    ? 'other bytes than were saved'
    : `${found.size} bytes, and ${saved.size} were saved`
}
